// The hierarchy: time runs upwards, every node is a line that ends where it was dropped.

const columnOf = new Uint32Array(n);
order.forEach((coordinate, column) => { columnOf[coordinate] = column; });
const NARROWEST = 14; // pixels per column when widened

class TreeView {
  constructor(select) {
    this.place = 0;
    this.wide = false;
    this.panel = new Panel("tree", (c, w, h) => this.drawAll(c, w, h), (c) => this.drawChosen(c));
    this.panel.hover((x) => this.describe(x));
    this.panel.click((x) => select(placeOf[this.at(x)]));
    document.getElementById("tree-zoom").addEventListener("click", (event) => {
      this.wide = !this.wide;
      event.target.setAttribute("aria-pressed", String(this.wide));
      this.panel.canvas.style.width = this.wide ? `${Math.min(WIDEST, Math.max(900, NARROWEST * n))}px` : "";
      this.panel.renew();
      this.reveal();
    });
  }

  show(place) {
    this.place = place;
    this.panel.draw();
    this.reveal();
  }

  reveal() {
    const box = document.getElementById("tree-scroll");
    if (box.scrollWidth > box.clientWidth + 1) box.scrollLeft = this.x(rows[this.place]) - box.clientWidth / 2;
  }

  x(coordinate) {
    return 34 + (columnOf[coordinate] + 0.5) * this.column;
  }

  y(level) {
    return this.height - 24 - ((this.height - 52) * level) / (content.levels + 1);
  }

  at(x) {
    return order[Math.min(n - 1, Math.max(0, Math.floor((x - 34) / this.column)))];
  }

  drawAll(context, width, height) {
    this.height = height;
    this.column = (width - 42) / n;
    this.drawAxis(context);
    const thin = Math.min(1.6, Math.max(0.35, 0.3 * this.column));
    const [branch, core] = [palette.variable("branch"), palette.variable("core")];
    for (let place = 0; place < n; place++) {
      const last = levelOf[place] > content.levels;
      this.drawLine(context, rows[place], levelOf[place], last ? core : branch, last ? Math.max(1, thin) : thin);
    }
    if (this.column >= 12) this.drawNames(context);
  }

  drawAxis(context) {
    context.fillStyle = palette.variable("quiet");
    context.textAlign = "right";
    context.textBaseline = "middle";
    const levels = content.levels;
    for (const level of new Set([0, Math.round(levels / 2), levels])) {
      context.fillText(level, 28, this.y(level));
    }
    context.textAlign = "left";
    context.fillText("level", 2, 7);
  }

  drawNames(context) {
    context.fillStyle = palette.variable("quiet");
    context.textAlign = "center";
    context.font = FONT.replace("12px", "10px");
    for (let i = 0; i < n; i++) context.fillText(nodeName(i).slice(0, 4), this.x(i), this.height - 12);
  }

  drawLine(context, coordinate, level, colour, width) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(this.x(coordinate), this.y(0));
    context.lineTo(this.x(coordinate), this.y(level));
    const ends = levelOf[placeOf[coordinate]] === level;
    if (ends && heirs[coordinate] !== coordinate) context.lineTo(this.x(heirs[coordinate]), this.y(level));
    context.stroke();
  }

  drawChosen(context) {
    const level = levelOf[this.place];
    const own = rows[this.place];
    const partners = level > content.levels ? [] : groupOf(level);
    for (const i of partners) {
      if (i !== own) this.drawLine(context, i, level, palette.variable("partner"), 2.2);
    }
    this.drawLine(context, own, level, palette.variable("dropped"), 3);
    context.fillStyle = palette.variable("dropped");
    context.beginPath();
    context.arc(this.x(own), this.y(level), 4.5, 0, 2 * Math.PI);
    context.fill();
  }

  describe(x) {
    const i = this.at(x);
    const level = levelOf[placeOf[i]];
    if (level > content.levels) return `node ${nodeName(i)}: kept in the core`;
    const group = Array.from(groupOf(level), nodeName).join(", ");
    const heir = heirs[i] === i ? "" : `\nmost of it went to node ${nodeName(heirs[i])}`;
    return `node ${nodeName(i)}: dropped at level ${level}${heir}\nrotated together: ${group}`;
  }
}
