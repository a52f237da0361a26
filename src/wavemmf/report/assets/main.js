// The page: what is chosen, the words about it, and the controls.

const element = (id) => document.getElementById(id);
const wavelets = rotations.wavelets.length;
const slider = element("slider");
const still = matchMedia("(prefers-reduced-motion: reduce)");
let chosen = 0;
let playing = null;

function fillList(list, entries) {
  list.replaceChildren(...entries.flatMap(([name, value]) => {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    [term.textContent, text.textContent] = [name, value];
    return [term, text];
  }));
}

function card(strong, text) {
  const item = document.createElement("li");
  const [first, second] = [document.createElement("strong"), document.createElement("span")];
  [first.textContent, second.textContent] = [strong, text];
  item.append(first, second);
  return item;
}

function fillFigures() {
  const { relative_error: error, exact, stored, dense, nonzeros, k, drop } = content.figures;
  const limit = exact ? "" : "≤ ";
  const against = nonzeros === null ? "" : `, ${grouped(nonzeros)} of them not zero`;
  element("figures").append(
    card(`${limit}${short(100 * error)} %`, "relative error: how far the approximation is from the matrix"),
    card(`${grouped(stored)} numbers`, `to store it; the matrix has ${grouped(dense)}${against}`),
    card(plural(wavelets, "wavelet"), `in ${plural(content.levels, "level")}, and a core of ${content.core}`),
    card(`${k} nodes at a time`, `are rotated by a level, and ${drop} of them dropped`),
  );
}

function listed(nodes, most = 12) {
  const names = Array.from(nodes, nodeName);
  return names.length > most ? `${names.slice(0, most).join(", ")}, … (${names.length})` : names.join(", ");
}

function describeChosen(isWavelet, level) {
  const own = rows[chosen];
  const of = ` of ${grouped(isWavelet ? wavelets : content.core)}`;
  element("caption").textContent = isWavelet
    ? `Wavelet ${grouped(chosen + 1)}${of}` : `Scaling function ${grouped(chosen - wavelets + 1)}${of}`;
  element("meaning").textContent = isWavelet
    ? "A pattern that was set aside." : "A pattern that stays in the core.";
  const facts = [
    ["frequency", short(frequencies[own])],
    ["reach", `${grouped(support[own])} of ${plural(n, "node")}, 99 % of it in ${grouped(mainSupport[own])}`],
  ];
  if (hops) facts.push(["scale", plural(hops[own], "step") + " from its centre"]);
  if (coefficients) facts.push(["coefficient", short(coefficients[own])]);
  if (isWavelet) {
    facts.push(["octave", octaveName(octaves[own])]);
    facts.unshift(["level", `${grouped(level)} of ${grouped(content.levels)}`]);
    facts.push(["rotated", listed(groupOf(level))], ["dropped", nodeName(own)]);
  } else facts.push(["node", nodeName(own)]);
  fillList(element("properties"), facts);
}

function fillLargest(values) {
  const seen = Array.from(values.keys()).filter((i) => Math.abs(values[i]) > 1e-9); // the rest is rounding
  const order = seen.sort((a, b) => Math.abs(values[b]) - Math.abs(values[a])).slice(0, 6);
  element("largest").tBodies[0].replaceChildren(...order.map((i) => {
    const row = document.createElement("tr");
    for (const text of [nodeName(i), short(values[i])]) row.insertCell().textContent = text;
    return row;
  }));
}

function drawScale(largest) {
  const canvas = element("scale");
  [canvas.width, canvas.height] = [2 * STEPS + 1, 1];
  const context = canvas.getContext("2d");
  for (let i = 0; i <= 2 * STEPS; i++) {
    context.fillStyle = shadeText(i / STEPS - 1);
    context.fillRect(i, 0, 1, 1);
  }
  element("scale-low").textContent = short(-largest);
  element("scale-high").textContent = `+${short(largest)}`;
}

function choose(place) {
  chosen = Math.max(0, Math.min(n - 1, place));
  const isWavelet = chosen < wavelets;
  const level = levelOf[chosen];
  const values = basisRow(chosen);
  slider.value = chosen + 1;
  describeChosen(isWavelet, level);
  slider.setAttribute("aria-valuetext", element("caption").textContent);
  fillLargest(values);
  graph.show(values, isWavelet ? groupOf(level) : []);
  drawScale(graph.largest);
  tree.show(chosen);
  charts.forEach((chart) => chart.choose(chosen));
}

function play(on) {
  clearInterval(playing);
  playing = on ? setInterval(() => choose((chosen + 1) % n), still.matches ? 1500 : 400) : null;
  element("play").setAttribute("aria-pressed", String(on));
  element("play").textContent = on ? "Pause" : "Play";
}

const STRIDES = { ArrowLeft: -1, ArrowRight: 1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  // The page itself keeps the keys that scroll it; the hierarchy scrolls sideways.
  const steering = target === slider || target.id === "graph";
  const anywhere = (key === "ArrowLeft" || key === "ArrowRight") && target.id !== "tree-scroll";
  if (key in STRIDES && (steering || anywhere)) {
    event.preventDefault();
    choose(chosen + STRIDES[key]);
  } else if (steering && (key === "+" || key === "=")) graph.magnify(1.5);
  else if (steering && key === "-") graph.magnify(1 / 1.5);
}

function startControls() {
  slider.max = n;
  slider.addEventListener("input", () => choose(Number(slider.value) - 1));
  element("previous").addEventListener("click", () => choose(chosen - 1));
  element("next").addEventListener("click", () => choose(chosen + 1));
  element("play").addEventListener("click", () => play(playing === null));
  element("zoom-in").addEventListener("click", () => graph.magnify(1.5));
  element("zoom-out").addEventListener("click", () => graph.magnify(1 / 1.5));
  element("zoom-all").addEventListener("click", () => graph.magnify(0));
  document.addEventListener("keydown", onKey);
}

function basisCharts() {
  const xs = rows.map((_, place) => place + 1);
  const kind = (place) => (place < wavelets ? `wavelet ${place + 1}` : `scaling function ${place - wavelets + 1}`);
  const chart = (id, values, yLabel, log) => new Chart(id, {
    xs, ys: rows.map((i) => values[i]), yLabel, log, select: choose,
    xLabel: "order of elimination, core last",
    tell: (place) => `${kind(place)}: ${short(values[rows[place]])}`,
  });
  if (!hops) element("hops-figure").remove();
  return [
    chart("frequency", frequencies, "frequency", false),
    chart("reach", mainSupport, "nodes with 99 % of it", n > 200),
    ...(hops ? [chart("hops", hops, "steps from its centre", false)] : []),
    ...signalCharts(chart),
  ];
}

function startCurve() {
  const figure = element("curve-figure");
  if (!content.errors.length) {
    figure.remove();
    return;
  }
  const [xs, ys] = [0, 1].map((i) => content.errors.map((pair) => pair[i]));
  new Chart("curve", { xs, ys, xLabel: "step", yLabel: "error (Frobenius norm)", log: Math.min(...ys) > 0, line: true });
}

startTheme();
fillFigures();
fillList(element("facts"), content.facts);
element("drawing-note").textContent = content.drawing.note;
element("version").textContent = content.version;
const graph = new GraphView();
const tree = new TreeView(choose);
const charts = basisCharts();
startImages();
startCurve();
startControls();
listeners.push(() => drawScale(graph.largest));
choose(0);
