// The coefficients of a signal: one by one, and by octave.

const coefficients = content.coefficients && unpack(content.coefficients);

function octaveName(octave) {
  return octave === 0 ? "core" : String(octave);
}

function fillOctaves() {
  const most = octaves.reduce((a, b) => Math.max(a, b), 0);
  const [count, energy] = [0, 1].map(() => new Float64Array(most + 1));
  coefficients.forEach((c, i) => {
    count[octaves[i]] += 1;
    energy[octaves[i]] += c * c;
  });
  const whole = energy.reduce((a, b) => a + b, 0) || 1;
  element("energy").textContent = `Norm of the signal: ${short(Math.sqrt(whole))}`;
  const finestFirst = [...Array.from({ length: most }, (_, i) => i + 1), 0];
  element("octaves").tBodies[0].replaceChildren(...finestFirst.map((octave) => {
    const row = document.createElement("tr");
    const share = `${short((100 * energy[octave]) / whole, 2)} %`;
    for (const text of [octaveName(octave), grouped(count[octave]), share]) row.insertCell().textContent = text;
    return row;
  }));
}

// The chart of the coefficients, or none without a signal.
function signalCharts(makeChart) {
  if (!coefficients) {
    element("signal-section").remove();
    return [];
  }
  fillOctaves();
  const sizes = coefficients.map(Math.abs);
  const least = 1e-6 * sizes.reduce((a, b) => Math.max(a, b), 0);
  return [makeChart("coefficients", sizes.map((size) => Math.max(size, least)), "size of the coefficient", least > 0)];
}
