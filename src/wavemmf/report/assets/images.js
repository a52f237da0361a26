// Matrices in the order of elimination: the core in the upper left corner.

const DECADES = 4;
const TITLES = { before: "The matrix itself", after: "H, the compressed matrix" };

class MatrixView {
  constructor(image, largest) {
    this.size = image.size;
    this.values = unpack(image.values);
    this.largest = largest;
    const figure = document.createElement("figure");
    const canvas = document.createElement("canvas");
    canvas.id = `matrix-${image.name}`;
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", TITLES[image.name]);
    const caption = document.createElement("figcaption");
    caption.textContent = TITLES[image.name];
    figure.append(canvas, caption);
    document.getElementById("images").append(figure);
    this.panel = new Panel(canvas.id, (c, w, h) => this.drawImage(c, w, h), () => {});
    this.panel.hover((x, y) => this.describe(x, y));
  }

  drawImage(context, width, height) {
    const small = document.createElement("canvas");
    small.width = small.height = this.size;
    const pixels = new ImageData(this.size, this.size);
    this.values.forEach((value, i) => {
      const tone = Math.max(0, 1 + Math.log10(Math.abs(value) / this.largest) / DECADES);
      pixels.data.set([...shade(value < 0 ? -tone : tone), 255], 4 * i);
    });
    small.getContext("2d").putImageData(pixels, 0, 0);
    context.imageSmoothingEnabled = this.size > width;
    context.drawImage(small, 0, 0, width, height);
    this.markCore(context, (content.core / n) * width);
  }

  markCore(context, edge) {
    if (edge <= 0) return;
    context.strokeStyle = palette.variable("core");
    context.lineWidth = 1.5;
    context.strokeRect(0.75, 0.75, edge, edge);
  }

  describe(x, y) {
    const cell = (t) => Math.min(this.size - 1, Math.max(0, Math.floor((t / this.panel.width) * this.size)));
    const [row, column] = [cell(y), cell(x)];
    const value = short(this.values[row * this.size + column]);
    if (this.size === n) return `nodes ${this.name(row)} and ${this.name(column)}: ${value}`;
    const span = (i) => `${Math.ceil((i * n) / this.size) + 1}–${Math.ceil(((i + 1) * n) / this.size)}`;
    return `rows ${span(row)}, columns ${span(column)}\nlargest entry: ${value}`;
  }

  // Rows are in the order of elimination: the core first, then what was dropped last.
  name(position) {
    const wavelets = n - content.core;
    return nodeName(rows[position < content.core ? wavelets + position : n - 1 - position]);
  }
}

function startImages() {
  const largest = content.images.reduce(
    (most, image) => unpack(image.values).reduce((m, x) => Math.max(m, Math.abs(x)), most), 0) || 1;
  content.images.forEach((image) => new MatrixView(image, largest));
  const before = content.images.length > 1
    ? "First the matrix, then what the factorization keeps of it after all rotations. " : "";
  document.getElementById("matrix-text").textContent = `${before}H has nothing but its core (the framed corner, ${
    plural(content.core, "row")}) and its diagonal; what the rotations leave elsewhere is the error. `
    + "Rows are in the order of elimination, the last to go first.";
  const reduced = content.images[0].size < n
    ? ` Reduced from ${grouped(n)} rows: every cell shows its largest entry.` : "";
  document.getElementById("matrix-note").textContent = "Orange is above zero, blue below; the shade is logarithmic, "
    + `from a ten-thousandth of the largest entry up to it.${reduced}`;
}
