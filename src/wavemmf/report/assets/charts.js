// Small charts: points or a line over a number of steps.

const FRAME = { left: 58, right: 12, top: 24, bottom: 40 };

function ticks(low, high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
  const result = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) result.push(i * step);
  return result;
}

function decades(low, high) {
  const result = [];
  for (let e = Math.floor(low); e <= Math.ceil(high); e++) if (e >= low - 1e-9 && e <= high + 1e-9) result.push(e);
  return result.length > 1 ? result : ticks(10 ** low, 10 ** high, 4).filter((t) => t > 0).map(Math.log10);
}

class Chart {
  constructor(id, { xs, ys, xLabel, yLabel, log = false, line = false, select = null, tell = null }) {
    Object.assign(this, { xs, ys: log ? ys.map((y) => Math.log10(Math.max(y, 1e-300))) : ys });
    Object.assign(this, { xLabel, yLabel, log, line, chosen: -1 });
    const range = (values) => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const padded = ([a, b]) => [a - 0.04 * (b - a || 1), b + 0.04 * (b - a || 1)];
    [this.rangeX, this.rangeY] = [range(this.xs), padded(range(this.ys))];
    this.panel = new Panel(id, (c, w, h) => this.drawAll(c, w, h), (c) => this.drawChosen(c));
    if (tell) this.panel.hover((x, y) => tell(this.nearest(x, y)));
    if (select) this.panel.click((x, y) => select(this.nearest(x, y)));
  }

  x(value) {
    const [low, high] = this.rangeX;
    return FRAME.left + ((value - low) / (high - low || 1)) * (this.width - FRAME.left - FRAME.right);
  }

  y(value) {
    const [low, high] = this.rangeY;
    return this.height - FRAME.bottom - ((value - low) / (high - low)) * (this.height - FRAME.top - FRAME.bottom);
  }

  nearest(x, y) {
    let [best, distance] = [0, Infinity];
    this.xs.forEach((value, i) => {
      const away = Math.hypot(this.x(value) - x, 0.3 * (this.y(this.ys[i]) - y));
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }

  drawAll(context, width, height) {
    Object.assign(this, { width, height });
    this.drawAxes(context);
    context.fillStyle = context.strokeStyle = palette.variable("accent");
    context.lineWidth = 1.8;
    context.globalAlpha = this.line || n < 300 ? 1 : 0.55;
    context.beginPath();
    this.xs.forEach((value, i) => {
      const [x, y] = [this.x(value), this.y(this.ys[i])];
      if (this.line) context.lineTo(x, y);
      else {
        context.moveTo(x, y);
        context.arc(x, y, n < 300 ? 2.6 : 1.5, 0, 2 * Math.PI);
      }
    });
    if (this.line) context.stroke();
    else context.fill();
    context.globalAlpha = 1;
  }

  drawAxes(context) {
    context.strokeStyle = palette.variable("line");
    context.fillStyle = palette.variable("quiet");
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const value of this.log ? decades(...this.rangeY) : ticks(...this.rangeY)) {
      const y = Math.round(this.y(value)) + 0.5;
      context.beginPath();
      context.moveTo(FRAME.left, y);
      context.lineTo(this.width - FRAME.right, y);
      context.stroke();
      context.fillText(short(this.log ? 10 ** value : value), FRAME.left - 7, y);
    }
    context.textAlign = "center";
    const few = this.width < 420 ? 4 : 6;
    for (const value of ticks(...this.rangeX, few)) {
      if (Number.isInteger(value)) context.fillText(value, this.x(value), this.height - FRAME.bottom + 13);
    }
    context.fillText(this.xLabel, (FRAME.left + this.width) / 2, this.height - 9);
    context.textAlign = "left";
    context.fillText(this.yLabel, 4, 9);
  }

  choose(index) {
    this.chosen = index;
    this.panel.draw();
  }

  drawChosen(context) {
    if (this.chosen < 0) return;
    context.fillStyle = palette.variable("dropped");
    context.strokeStyle = palette.variable("panel");
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(this.x(this.xs[this.chosen]), this.y(this.ys[this.chosen]), 6, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}
