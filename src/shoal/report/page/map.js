// A map of points on a canvas. Discs are blended into the pixels directly: one pass over 100,000 points takes some
// milliseconds in every browser, with or without a graphics card.
const DIM = 0, PLAIN = 1, LIT = 2;

function decode(text, Type) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Type(bytes.buffer);
}

function pixel(hex) {
  const value = parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

class TextMap {
  constructor(canvas, points, labels) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.n = points.cluster.length;
    this.points = points;
    this.labels = labels; // [{cluster, name, x, y, size, group}]
    this.state = new Uint8Array(this.n).fill(PLAIN);
    this.order = Uint32Array.from({ length: this.n }, (_, i) => i);
    this.zoom = 1;
    this.centre = [0, 0];
    this.hovered = -1;
    this.lasso = null;
    this.selected = -1;
    this.drawn = [];
    this.ready = false;
    this.buildIndex();
    if (window.ResizeObserver) new ResizeObserver(() => this.resize()).observe(canvas);
    window.addEventListener("resize", () => this.resize());
    this.resize();
  }

  // A grid of buckets over the places, to find the point under the pointer.
  buildIndex() {
    this.side = Math.max(1, Math.min(256, Math.round(Math.sqrt(this.n / 3))));
    const cells = this.side * this.side, starts = new Uint32Array(cells + 1), bucket = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) starts[(bucket[i] = this.cell(this.points.x[i], this.points.y[i])) + 1]++;
    for (let c = 0; c < cells; c++) starts[c + 1] += starts[c];
    const next = starts.slice(0, cells);
    this.inCell = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) this.inCell[next[bucket[i]]++] = i;
    this.cellStart = starts;
  }

  column(value) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(((value + 1) / 2) * this.side)));
  }

  cell(x, y) {
    return this.column(y) * this.side + this.column(x);
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = Math.min(2, window.devicePixelRatio || 1);
    this.width = Math.max(1, Math.round(box.width * this.ratio));
    this.height = Math.max(1, Math.round(box.height * this.ratio));
    this.canvas.width = this.width;
    this.canvas.height = this.height;
    this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  // The axes of a map mean nothing, so it may be stretched a little to fill its frame.
  scale() {
    const longer = 1.4, { width, height } = this;
    return [0.47 * this.zoom * Math.min(width, longer * height), 0.47 * this.zoom * Math.min(height, longer * width)];
  }

  // Pixels of the canvas, not of the page, which has fewer on fine displays.
  screen(x, y) {
    const [sx, sy] = this.scale();
    return [(x - this.centre[0]) * sx + this.width / 2, (this.centre[1] - y) * sy + this.height / 2];
  }

  place(px, py) {
    const [sx, sy] = this.scale();
    return [(px - this.width / 2) / sx + this.centre[0], this.centre[1] - (py - this.height / 2) / sy];
  }

  pageOf(i) {
    const box = this.canvas.getBoundingClientRect(), [x, y] = this.screen(this.points.x[i], this.points.y[i]);
    return [box.left + x / this.ratio, box.top + y / this.ratio];
  }

  radius() {
    const crowd = Math.max(0.9, Math.min(3.4, 125 / Math.sqrt(this.n)));
    return crowd * this.ratio * Math.min(2.4, Math.pow(this.zoom, 0.45)) + 0.4 * this.ratio;
  }

  setState(stateOf) {
    for (let i = 0; i < this.n; i++) this.state[i] = stateOf(i);
    // What matters is drawn last, on top.
    const starts = [0, 0, 0, 0];
    for (let i = 0; i < this.n; i++) starts[this.state[i] + 1]++;
    for (let s = 0; s < 3; s++) starts[s + 1] += starts[s];
    for (let i = 0; i < this.n; i++) this.order[starts[this.state[i]]++] = i;
    this.redraw();
  }

  setColours(colours, theme) {
    this.colours = colours.map(pixel);
    this.theme = theme;
    this.ready = true;
    this.redraw();
  }

  draw() {
    if (!this.ready || this.width < 2) return;
    const started = performance.now();
    this.drawPoints();
    this.drawHover();
    this.drawLabels();
    if (this.lasso) this.drawLasso();
    this.lastFrame = performance.now() - started;
    this.firstDrawn ??= performance.now(); // since the page was asked for
  }

  disc(radius) {
    const reach = Math.ceil(radius), mask = [];
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        const cover = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(dx, dy)));
        if (cover > 0.02) mask.push([dx, dy, cover]);
      }
    }
    return mask;
  }

  drawPoints() {
    const reach = Math.ceil(this.radius() * 1.5) + 1, width = this.width + 2 * reach, height = this.height + 2 * reach;
    const [r, g, b] = pixel(this.theme.paper), [gr, gg, gb] = pixel(this.theme.dim);
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const pixels = this.pixels, { x, y, cluster } = this.points;
    pixels.fill((255 << 24) | (b << 16) | (g << 8) | r);
    const masks = [0.8, 1, 1.35].map((factor, state) => {
      const alpha = [this.theme.dimAlpha, this.n > 30000 ? 0.7 : 0.85, 1][state];
      const mask = this.disc(this.radius() * factor);
      return {
        offset: Int32Array.from(mask, ([dx, dy]) => dy * width + dx),
        alpha: Int32Array.from(mask, ([, , cover]) => Math.round(256 * cover * alpha)),
      };
    });
    const redBlue = this.colours.map(([cr, , cb]) => (cb << 16) | cr), green = this.colours.map(([, cg]) => cg << 8);
    const dimRedBlue = (gb << 16) | gr, dimGreen = gg << 8;
    const [ox, oy] = this.screen(0, 0), [sx, sy] = this.scale();
    for (let k = 0; k < this.n; k++) {
      const i = this.order[k], px = Math.round(x[i] * sx + ox) + reach, py = Math.round(oy - y[i] * sy) + reach;
      if (px < reach || py < reach || px >= width - reach || py >= height - reach) continue;
      const state = this.state[i], { offset, alpha } = masks[state], colour = cluster[i], at = py * width + px;
      const srcRB = state === DIM ? dimRedBlue : redBlue[colour], srcG = state === DIM ? dimGreen : green[colour];
      for (let m = 0; m < offset.length; m++) {
        const p = pixels[at + offset[m]], a = alpha[m], rest = 256 - a;
        const rb = (((p & 0xff00ff) * rest + srcRB * a) >>> 8) & 0xff00ff;
        const gr8 = (((p & 0xff00) * rest + srcG * a) >>> 8) & 0xff00;
        pixels[at + offset[m]] = 0xff000000 | rb | gr8;
      }
    }
    this.context.putImageData(this.image, -reach, -reach);
  }

  drawHover() {
    if (this.hovered < 0) return;
    const [px, py] = this.screen(this.points.x[this.hovered], this.points.y[this.hovered]), c = this.context;
    c.beginPath();
    c.arc(px, py, this.radius() + 4 * this.ratio, 0, 2 * Math.PI);
    c.lineWidth = 2 * this.ratio;
    c.strokeStyle = this.theme.ink;
    c.stroke();
  }

  drawLabels() {
    const c = this.context, taken = [];
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.lineJoin = "round";
    this.drawn = [];
    const broad = this.labels.some((label) => label.group) && this.zoom < 1.7;
    const shown = [...this.labels].sort((a, b) => this.rank(b, broad) - this.rank(a, broad));
    for (const label of shown) {
      if (label.group && !broad) continue;
      const isSelected = !label.group && label.cluster === this.selected;
      if (this.selected >= 0 && !isSelected) continue;
      const [px, py] = this.screen(label.x, label.y);
      if (px < 0 || py < 0 || px > this.width || py > this.height) continue;
      const size = (label.group ? 15 : Math.min(14, 11.5 + this.zoom * 0.5)) * this.ratio;
      c.font = `${label.group ? 800 : 600} ${size}px system-ui, "Segoe UI", sans-serif`;
      const lines = this.wrapped(label.name, label.group ? 30 : 24), leading = size * 1.15;
      const half = Math.max(...lines.map((line) => c.measureText(line).width)) / 2 + 5 * this.ratio;
      const tall = (leading * lines.length) / 2 + 3 * this.ratio;
      const cx = Math.max(half, Math.min(this.width - half, px));
      const cy = Math.max(tall, Math.min(this.height - tall, py));
      const box = { left: cx - half, right: cx + half, top: cy - tall, bottom: cy + tall, label };
      const overlaps = (o) => box.left < o.right && box.right > o.left && box.top < o.bottom && box.bottom > o.top;
      if (taken.some(overlaps)) continue;
      taken.push(box);
      lines.forEach((line, number) => {
        const ly = cy + (number - (lines.length - 1) / 2) * leading;
        c.lineWidth = 4 * this.ratio;
        c.strokeStyle = this.theme.paper;
        c.strokeText(line, cx, ly);
        c.fillStyle = this.theme.ink;
        c.fillText(line, cx, ly);
      });
    }
    this.drawn = taken;
  }

  rank(label, broad) {
    if (label.cluster === this.selected && !label.group) return Infinity;
    return label.group ? (broad ? 1e12 : 0) + label.size : label.size;
  }

  wrapped(name, width) {
    const lines = [""];
    for (const word of name.split(" ")) {
      const last = lines[lines.length - 1];
      if (last && last.length + word.length + 1 > width) lines.push(word);
      else lines[lines.length - 1] = last ? `${last} ${word}` : word;
    }
    const kept = lines.slice(0, 2);
    if (lines.length > 2) kept[1] = `${kept[1].replace(/,$/, "")} …`;
    return kept.map((line) => (line.length > width + 6 ? `${line.slice(0, width + 5)}…` : line));
  }

  drawLasso() {
    const c = this.context;
    c.beginPath();
    this.lasso.forEach(([x, y], number) => {
      const [px, py] = this.screen(x, y);
      if (number) c.lineTo(px, py);
      else c.moveTo(px, py);
    });
    c.closePath();
    c.lineWidth = 1.5 * this.ratio;
    c.setLineDash([5 * this.ratio, 4 * this.ratio]);
    c.strokeStyle = this.theme.ink;
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 0.08;
    c.fillStyle = this.theme.ink;
    c.fill();
    c.globalAlpha = 1;
  }

  // The point nearest to a place on the page, at most some pixels away; -1 if there is none.
  pointAt(pageX, pageY, reach = 9) {
    const box = this.canvas.getBoundingClientRect();
    const px = (pageX - box.left) * this.ratio, py = (pageY - box.top) * this.ratio, far = reach * this.ratio;
    const [left, top] = this.place(px - far, py - far), [right, bottom] = this.place(px + far, py + far);
    let best = -1, least = far * far, alive = -1;
    for (let row = this.column(bottom); row <= this.column(top); row++) {
      for (let column = this.column(left); column <= this.column(right); column++) {
        const cell = row * this.side + column;
        for (let k = this.cellStart[cell]; k < this.cellStart[cell + 1]; k++) {
          const i = this.inCell[k], [qx, qy] = this.screen(this.points.x[i], this.points.y[i]);
          const away = (qx - px) ** 2 + (qy - py) ** 2, lively = this.state[i] === DIM ? 0 : 1;
          if (lively > alive ? away <= far * far : lively === alive && away < least) {
            best = i;
            least = away;
            alive = lively;
          }
        }
      }
    }
    return best;
  }

  labelAt(pageX, pageY) {
    const box = this.canvas.getBoundingClientRect();
    const px = (pageX - box.left) * this.ratio, py = (pageY - box.top) * this.ratio;
    const hit = this.drawn.find((b) => px >= b.left && px <= b.right && py >= b.top && py <= b.bottom);
    return hit && !hit.label.group ? hit.label : null;
  }

  inside(polygon) {
    const { x, y } = this.points, found = [];
    for (let i = 0; i < this.n; i++) {
      let within = false;
      for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
        const [ax, ay] = polygon[a], [bx, by] = polygon[b];
        if (ay > y[i] !== by > y[i] && x[i] < ((bx - ax) * (y[i] - ay)) / (by - ay) + ax) within = !within;
      }
      if (within) found.push(i);
    }
    return found;
  }

  zoomBy(factor, px = this.width / 2, py = this.height / 2) {
    const before = this.place(px, py);
    this.zoom = Math.max(0.7, Math.min(60, this.zoom * factor));
    const after = this.place(px, py);
    this.moveTo(this.centre[0] + before[0] - after[0], this.centre[1] + before[1] - after[1]);
  }

  moveTo(x, y) {
    this.centre = [Math.max(-1.2, Math.min(1.2, x)), Math.max(-1.2, Math.min(1.2, y))];
    this.redraw();
  }

  moveBy(dx, dy) {
    const [x0, y0] = this.place(0, 0), [x1, y1] = this.place(dx, dy);
    this.moveTo(this.centre[0] + x0 - x1, this.centre[1] + y0 - y1);
  }

  reset() {
    this.zoom = 1;
    this.moveTo(0, 0);
  }
}
