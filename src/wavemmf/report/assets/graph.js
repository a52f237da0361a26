// The graph, its nodes coloured by a wavelet.

const points = unpack(content.drawing.points);
const lines = unpack(content.drawing.lines);
const MARGIN = 26;
const HARDLY = 1e-3; // of the largest value: drawn like zero
const SEEN = 3.2; // radius of a value that is not zero, however many nodes there are
const LABELLED = 9; // radius from which a number fits into a node

const bounds = [0, 1].map((axis) => {
  const values = Array.from({ length: n }, (_, i) => points[2 * i + axis]);
  return values.reduce(([low, high], x) => [Math.min(low, x), Math.max(high, x)], [Infinity, -Infinity]);
});
const middle = bounds.map(([low, high]) => (low + high) / 2);

class GraphView {
  constructor() {
    this.values = new Float64Array(n);
    this.group = [];
    this.home();
    this.panel = new Panel("graph", (c, w, h) => this.drawBase(c, w, h), (c, w, h) => this.drawValues(c, w, h));
    this.panel.hover((x, y) => this.describe(x, y));
    this.startDragging();
  }

  home() {
    this.zoom = 1;
    this.centre = [...middle];
  }

  show(values, group) {
    this.values = values;
    this.group = group;
    this.largest = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
    this.panel.draw();
  }

  magnify(factor) {
    this.zoom = Math.min(40, Math.max(1, this.zoom * factor));
    if (this.zoom === 1) this.home();
    this.panel.canvas.classList.toggle("magnified", this.zoom > 1);
    this.panel.renew();
  }

  startDragging() {
    const { canvas } = this.panel;
    let from = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (this.zoom === 1) return;
      from = [event.clientX, event.clientY];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      this.centre[0] -= (event.clientX - from[0]) / this.unit;
      this.centre[1] += (event.clientY - from[1]) / this.unit;
      from = [event.clientX, event.clientY];
      this.panel.renew();
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { from = null; });
  }

  place(width, height) {
    const [spanX, spanY] = bounds.map(([low, high]) => Math.max(high - low, 1e-6));
    this.unit = this.zoom * Math.min((width - 2 * MARGIN) / spanX, (height - 2 * MARGIN) / spanY);
    this.radius = Math.min(12, Math.max(1.6, 0.17 * Math.sqrt((width * height) / n)) * Math.sqrt(this.zoom));
    this.x = new Float32Array(n);
    this.y = new Float32Array(n);
    for (let i = 0; i < n; i++) {
      this.x[i] = width / 2 + (points[2 * i] - this.centre[0]) * this.unit;
      this.y[i] = height / 2 - (points[2 * i + 1] - this.centre[1]) * this.unit;
    }
  }

  drawBase(context, width, height) {
    this.place(width, height);
    context.strokeStyle = palette.variable("edge");
    context.lineWidth = n > 1000 ? 0.7 : 1;
    context.beginPath();
    for (let e = 0; e < lines.length; e += 2) {
      context.moveTo(this.x[lines[e]], this.y[lines[e]]);
      context.lineTo(this.x[lines[e + 1]], this.y[lines[e + 1]]);
    }
    context.stroke();
    context.fillStyle = palette.variable("node");
    context.strokeStyle = palette.variable("outline");
    context.lineWidth = this.radius > 4 ? 1 : 0.4;
    for (let i = 0; i < n; i++) {
      context.beginPath();
      context.arc(this.x[i], this.y[i], 0.8 * this.radius, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (this.radius >= LABELLED) this.label(context, i, palette.variable("ink"));
    }
  }

  drawValues(context) {
    const seen = [];
    for (let i = 0; i < n; i++) if (Math.abs(this.values[i]) > HARDLY * this.largest) seen.push(i);
    seen.sort((a, b) => Math.abs(this.values[a]) - Math.abs(this.values[b])); // the largest on top
    context.strokeStyle = palette.variable("outline");
    context.lineWidth = this.radius > 4 ? 1 : 0.5;
    const size = Math.max(this.radius, SEEN);
    for (const i of seen) {
      const t = this.values[i] / this.largest;
      const colour = shade(t);
      context.fillStyle = `rgb(${colour.join(",")})`;
      context.beginPath();
      context.arc(this.x[i], this.y[i], size * (0.8 + 0.5 * Math.sqrt(Math.abs(t))), 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (this.radius >= LABELLED) this.label(context, i, inkOn(colour));
    }
    this.drawRings(context);
  }

  drawRings(context) {
    context.strokeStyle = palette.variable("ink");
    context.lineWidth = 2;
    for (const i of this.group) {
      context.beginPath();
      context.arc(this.x[i], this.y[i], 1.3 * Math.max(this.radius, SEEN) + 2.5, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  label(context, i, colour) {
    const before = context.fillStyle;
    context.fillStyle = colour;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = FONT.replace("12px", "10.5px");
    context.fillText(nodeName(i).slice(0, 4), this.x[i], this.y[i] + 0.5);
    context.fillStyle = before;
  }

  describe(x, y) {
    let best = -1;
    let distance = Math.max(12, 1.5 * this.radius) ** 2;
    for (let i = 0; i < n; i++) {
      const away = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (away < distance) [best, distance] = [i, away];
    }
    if (best < 0) return null;
    const level = levelOf[placeOf[best]];
    const fate = level > content.levels ? "kept in the core" : `dropped at level ${level}`;
    return `node ${nodeName(best)}: ${short(this.values[best])}\n${fate}`;
  }
}
