// A canvas as sharp as the screen, with a background that is drawn only when it changes.

const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif";
const WIDEST = 8000;

function sharpContext(canvas, width, height) {
  const ratio = Math.min(devicePixelRatio || 1, WIDEST / Math.max(width, height, 1));
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  return context;
}

class Panel {
  constructor(id, drawBackground, drawFront) {
    this.canvas = document.getElementById(id);
    this.background = document.createElement("canvas");
    this.drawBackground = drawBackground;
    this.drawFront = drawFront;
    this.stale = true;
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    listeners.push(() => this.renew());
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas;
    if (clientWidth !== this.width || clientHeight !== this.height) this.renew();
  }

  renew() {
    this.stale = true;
    this.draw();
  }

  draw() {
    const { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth || !clientHeight) return;
    if (this.stale) {
      [this.width, this.height] = [clientWidth, clientHeight];
      this.context = sharpContext(this.canvas, this.width, this.height);
      this.drawBackground(sharpContext(this.background, this.width, this.height), this.width, this.height);
      this.stale = false;
    }
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.drawImage(this.background, 0, 0, this.width, this.height);
    this.drawFront(this.context, this.width, this.height);
  }

  // Tell `describe` where the pointer is, and show what it answers beside it.
  hover(describe) {
    const tell = (event) => {
      const box = this.canvas.getBoundingClientRect();
      showTooltip(describe(event.clientX - box.left, event.clientY - box.top), event);
    };
    this.canvas.addEventListener("pointermove", tell);
    this.canvas.addEventListener("pointerdown", tell);
    this.canvas.addEventListener("pointerleave", () => showTooltip(null));
  }

  click(react) {
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      react(event.clientX - box.left, event.clientY - box.top);
    });
  }
}

const tooltip = document.getElementById("tooltip");

function showTooltip(text, event) {
  tooltip.hidden = !text;
  if (!text) return;
  tooltip.textContent = text;
  const { offsetWidth, offsetHeight } = tooltip;
  const left = Math.min(event.clientX + 14, innerWidth - offsetWidth - 8);
  const above = event.clientY - offsetHeight - 12;
  tooltip.style.left = `${Math.max(8, left)}px`;
  tooltip.style.top = `${above > 8 ? above : event.clientY + 18}px`;
}
