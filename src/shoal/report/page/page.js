// The page around the map: theme, sorting and filtering of cards, small maps of the stages.
const THEMES = {
  light: { name: "light", paper: "#ffffff", ink: "#17212b", dim: "#c3ccd6", dimAlpha: 0.35 },
  dark: { name: "dark", paper: "#131a21", ink: "#edf2f7", dim: "#46525f", dimAlpha: 0.45 },
};
const listeners = [];

function themeNow() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return THEMES[chosen];
  return THEMES[window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"];
}

function onTheme(listener) {
  listeners.push(listener);
  listener(themeNow());
}

function startTheme() {
  const button = document.getElementById("theme");
  const changed = () => {
    button.textContent = themeNow().name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to the ${button.textContent.toLowerCase()} theme`);
    listeners.forEach((listener) => listener(themeNow()));
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = themeNow().name === "dark" ? "light" : "dark";
    changed();
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  // Paper is white.
  window.addEventListener("beforeprint", () => {
    document.querySelectorAll("details.in-print").forEach((part) => { part.open = true; });
    listeners.forEach((listener) => listener(THEMES.light));
  });
  window.addEventListener("afterprint", changed);
  changed();
}

function startCards() {
  const cards = document.getElementById("cards");
  if (!cards) return;
  const sort = document.getElementById("sort"), filter = document.getElementById("filter");
  const all = [...cards.children], lower = all.map((card) => card.textContent.toLowerCase());
  const orders = {
    size: (a, b) => b.dataset.size - a.dataset.size,
    sure: (a, b) => b.dataset.confidence - a.dataset.confidence,
    unsure: (a, b) => a.dataset.confidence - b.dataset.confidence,
    copies: (a, b) => b.dataset.copies - a.dataset.copies,
    name: (a, b) => a.dataset.name.localeCompare(b.dataset.name),
  };
  sort.addEventListener("change", () => cards.append(...[...all].sort(orders[sort.value])));
  filter.addEventListener("input", () => {
    const wanted = filter.value.trim().toLowerCase();
    let shown = 0;
    all.forEach((card, number) => {
      card.hidden = wanted !== "" && !lower[number].includes(wanted);
      shown += card.hidden ? 0 : 1;
    });
    document.getElementById("cards-said").textContent = `${shown} of ${all.length} clusters`;
  });
}

function startStages(stages) {
  stages.forEach((stage, number) => {
    const points = {
      x: Float32Array.from(decode(stage.x, Uint16Array), (value) => value / 32767.5 - 1),
      y: Float32Array.from(decode(stage.y, Uint16Array), (value) => value / 32767.5 - 1),
      cluster: decode(stage.cluster, Uint16Array),
    };
    const map = new TextMap(document.getElementById(`stage-${number}`), points, []);
    onTheme((theme) => map.setColours(stage.palette[theme.name], theme));
  });
}

function start() {
  startTheme();
  startCards();
  const holder = document.getElementById("data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  if (data.map) startMap(data.map);
  startStages(data.stages || []);
}

start();
