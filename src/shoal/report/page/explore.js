// What one does with the map: hover, select, search, lasso, slide; all of it also without a pointer.
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const byId = (id) => document.getElementById(id);
const counted = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
const SHOWN = 60;

function startMap(data) {
  const points = {
    x: Float32Array.from(decode(data.x, Uint16Array), (value) => value / 32767.5 - 1),
    y: Float32Array.from(decode(data.y, Uint16Array), (value) => value / 32767.5 - 1),
    cluster: decode(data.cluster, Uint16Array),
  };
  const confidence = decode(data.confidence, Uint16Array), second = decode(data.second, Int16Array);
  const canvas = byId("map"), map = new TextMap(canvas, points, data.labels), said = byId("said");
  const panel = byId("found"), list = byId("clusters"), tip = byId("tip"), slider = byId("least");
  let selected = -1, matches = null, caught = null, lower = null, mode = "move";
  canvas.textMap = map;

  const textOf = (i) => data.texts[i];
  const nameOf = (cluster) => data.clusters[cluster].name;

  function apply() {
    const least = Number(slider.value) * 100;
    map.selected = selected;
    map.setState((i) => {
      if (confidence[i] < least || (selected >= 0 && points.cluster[i] !== selected)) return DIM;
      if (caught) return caught.has(i) ? LIT : DIM;
      if (matches) return matches.has(i) ? LIT : DIM;
      return PLAIN;
    });
    const n = data.atLeast[Number(slider.value)], all = data.atLeast[0];
    byId("least-said").textContent =
      Number(slider.value) === 0 ? `all ${counted(all, "text")}` :
        `${(slider.value / 100).toFixed(2)} or more: ${n.toLocaleString("en")} of ${counted(all, "text")}`;
    slider.setAttribute("aria-valuetext", byId("least-said").textContent);
    for (const button of list.querySelectorAll("button")) {
      const own = Number(button.dataset.cluster) === selected;
      button.setAttribute("aria-pressed", String(own));
    }
  }

  function textItem(i) {
    const name = make("span", { class: "of" }, make("i", { class: `dot c${data.clusters[points.cluster[i]].colour}` }));
    name.append(make("bdi", { text: nameOf(points.cluster[i]) }), ` · ${(confidence[i] / 10000).toFixed(2)}`);
    return make("li", {}, make("p", { dir: "auto", text: textOf(i) }), name);
  }

  function show(title, ...nodes) {
    const clear = make("button", { type: "button", class: "quiet", id: "clear", text: "Clear" });
    clear.addEventListener("click", clearAll);
    panel.replaceChildren(make("div", { class: "found-head" }, make("h3", { text: title, dir: "auto" }), clear), ...nodes);
    panel.hidden = false;
    list.hidden = true;
    said.textContent = title;
  }

  function clearAll() {
    selected = -1;
    matches = caught = map.lasso = null;
    byId("search").value = "";
    panel.hidden = true;
    list.hidden = false;
    said.textContent = "All texts are shown.";
    apply();
  }

  function select(cluster) {
    if (cluster < 0 || cluster === selected) return clearAll();
    clearAll();
    selected = cluster;
    const facts = data.clusters[cluster], members = [];
    for (let i = 0; i < map.n && members.length < SHOWN; i++) if (points.cluster[i] === cluster) members.push(i);
    members.sort((a, b) => confidence[b] - confidence[a]);
    const more = make("a", { href: `#cluster-${cluster}`, text: "Everything about this cluster" });
    show(
      facts.name,
      make("p", { class: "muted", text: `${counted(facts.size, "text")}, confidence ${facts.confidence.toFixed(2)}` }),
      make("p", { class: "words", text: facts.keywords.join(" · "), dir: "auto" }),
      make("p", {}, more),
      make("ul", { class: "texts" }, ...members.map(textItem)),
    );
    apply();
  }

  function search(query) {
    const wanted = query.trim().toLowerCase();
    if (!wanted) return clearAll();
    if (!lower) lower = data.texts.map((text) => text.toLowerCase());
    selected = -1;
    caught = map.lasso = null;
    matches = new Set();
    for (let i = 0; i < map.n; i++) if (lower[i].includes(wanted)) matches.add(i);
    report(`${counted(matches.size, "text")} with “${query.trim()}”`, matches);
    apply();
  }

  // The clusters of some texts, and the first of the texts.
  function report(title, found) {
    const counts = new Map();
    for (const i of found) counts.set(points.cluster[i], (counts.get(points.cluster[i]) || 0) + 1);
    const rows = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([cluster, n]) => {
      const dot = make("i", { class: `dot c${data.clusters[cluster].colour}` });
      return make("li", {}, dot, make("bdi", { text: nameOf(cluster) }), make("b", { text: n.toLocaleString("en") }));
    });
    const texts = [...found].slice(0, SHOWN).map(textItem);
    show(title, make("ul", { class: "counts" }, ...rows), make("ul", { class: "texts" }, ...texts));
  }

  function hover(event) {
    const i = mode === "move" ? map.pointAt(event.clientX, event.clientY) : -1;
    if (i !== map.hovered) {
      map.hovered = i;
      map.redraw();
    }
    canvas.classList.toggle("over", i >= 0 || (mode === "move" && !!map.labelAt(event.clientX, event.clientY)));
    if (i < 0) {
      tip.hidden = true;
      return;
    }
    const sure = `confidence ${(confidence[i] / 10000).toFixed(2)}`;
    const other = second[i] >= 0 ? `, or else: ${nameOf(second[i])}` : "";
    const name = make("p", { class: "of" }, make("i", { class: `dot c${data.clusters[points.cluster[i]].colour}` }));
    name.append(make("bdi", { text: nameOf(points.cluster[i]) }));
    tip.replaceChildren(
      make("p", { text: textOf(i), dir: "auto" }), name, make("p", { class: "muted", text: sure + other }),
    );
    tip.hidden = false;
    const box = canvas.parentElement.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    tip.style.left = `${Math.max(4, Math.min(box.width - own.width - 4, x + 14))}px`;
    tip.style.top = `${y + own.height + 24 > box.height ? Math.max(4, y - own.height - 14) : y + 16}px`;
  }

  const fingers = new Map();
  let start = null, dragged = false;
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    start = [event.clientX, event.clientY];
    dragged = false;
    if (mode === "lasso") map.lasso = [inMap(event)];
    canvas.setPointerCapture(event.pointerId);
  });
  const inMap = (event) => {
    const box = canvas.getBoundingClientRect();
    return map.place((event.clientX - box.left) * map.ratio, (event.clientY - box.top) * map.ratio);
  };
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return hover(event);
    const now = [event.clientX, event.clientY];
    if (Math.hypot(now[0] - start[0], now[1] - start[1]) > 4) dragged = true;
    if (!dragged) return;
    tip.hidden = true;
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1], box = canvas.getBoundingClientRect();
      const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
      const is = Math.hypot(now[0] - other[0], now[1] - other[1]);
      const middle = [(now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top];
      if (was > 0) map.zoomBy(is / was, middle[0] * map.ratio, middle[1] * map.ratio);
    } else if (mode === "lasso") {
      map.lasso.push(inMap(event));
      map.redraw();
    } else if (event.pointerType !== "touch") {
      map.moveBy((now[0] - before[0]) * map.ratio, (now[1] - before[1]) * map.ratio);
    }
    fingers.set(event.pointerId, now);
  });
  const release = (event) => {
    const alone = fingers.size === 1;
    fingers.delete(event.pointerId);
    if (!alone || event.type === "pointercancel") return;
    if (mode === "lasso" && map.lasso && map.lasso.length > 2) {
      const polygon = map.lasso, within = map.inside(polygon);
      clearAll();
      map.lasso = polygon;
      caught = new Set(within);
      setMode("move");
      report(`${counted(caught.size, "text")} in the lasso`, caught);
      return apply();
    }
    if (dragged) return;
    const label = map.labelAt(event.clientX, event.clientY), i = map.pointAt(event.clientX, event.clientY);
    if (label) select(label.cluster);
    else if (i >= 0) select(points.cluster[i]);
    else clearAll();
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    tip.hidden = true;
    map.hovered = -1;
    map.redraw();
  });
  canvas.addEventListener("wheel", (event) => {
    // Scrolling the page over the map must stay possible: zoom once the map has been clicked, or with a key held.
    if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = canvas.getBoundingClientRect(), factor = Math.exp(-event.deltaY / 400);
    map.zoomBy(factor, (event.clientX - box.left) * map.ratio, (event.clientY - box.top) * map.ratio);
  }, { passive: false });
  canvas.addEventListener("dblclick", () => map.zoomBy(2));
  canvas.addEventListener("keydown", (event) => {
    const step = 60 * map.ratio;
    const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (moves[event.key]) map.moveBy(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") map.zoomBy(1.4);
    else if (event.key === "-") map.zoomBy(1 / 1.4);
    else if (event.key === "0") map.reset();
    else if (event.key === "Escape") clearAll();
    else return;
    event.preventDefault();
  });

  function setMode(next) {
    mode = next;
    canvas.classList.toggle("lasso", mode === "lasso");
    byId("lasso").setAttribute("aria-pressed", String(mode === "lasso"));
    if (mode === "lasso") said.textContent = "Draw around the texts that you want to count.";
  }

  byId("lasso").addEventListener("click", () => setMode(mode === "lasso" ? "move" : "lasso"));
  byId("zoom-in").addEventListener("click", () => map.zoomBy(1.6));
  byId("zoom-out").addEventListener("click", () => map.zoomBy(1 / 1.6));
  byId("zoom-all").addEventListener("click", () => map.reset());
  slider.addEventListener("input", apply);
  let typing = 0;
  byId("search").addEventListener("input", (event) => {
    clearTimeout(typing);
    typing = setTimeout(() => search(event.target.value), 120);
  });
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) select(Number(button.dataset.cluster));
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-isolate]");
    if (!button) return;
    if (Number(button.dataset.isolate) !== selected) select(Number(button.dataset.isolate));
    byId("explore").scrollIntoView();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !panel.hidden) clearAll();
  });
  onTheme((theme) => map.setColours(data.clusters.map((cluster) => data.palette[theme.name][cluster.colour]), theme));
  apply();
}
