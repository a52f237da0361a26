// Light and dark, and the scale from below zero (blue) to above (orange) that all eyes can tell apart.

const STEPS = 48;
const RAMPS = {
  light: { below: ["#eef0f2", "#6aaed6", "#08468b"], above: ["#eef0f2", "#f2995a", "#9a3200"] },
  dark: { below: ["#2a3039", "#3d8ed0", "#b5dcff"], above: ["#2a3039", "#d9782f", "#ffd2a6"] },
};
const listeners = [];
const wish = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;
let palette = null;

function channels(hex) {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function between(stops, t) {
  const place = Math.min(t, 1) * (stops.length - 1);
  const i = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [channels(stops[i]), channels(stops[i + 1])];
  return a.map((value, c) => Math.round(value + (place - i) * (b[c] - value)));
}

function makePalette(theme) {
  const ramp = (stops) => Array.from({ length: STEPS + 1 }, (_, i) => between(stops, i / STEPS));
  const style = getComputedStyle(document.documentElement);
  const variable = (name) => style.getPropertyValue(`--${name}`).trim();
  return { theme, variable, below: ramp(RAMPS[theme].below), above: ramp(RAMPS[theme].above) };
}

// t from -1 to 1; red, green and blue.
function shade(t) {
  const ramp = t < 0 ? palette.below : palette.above;
  return ramp[Math.round(Math.min(Math.abs(t), 1) * STEPS)];
}

function shadeText(t) {
  return `rgb(${shade(t).join(",")})`;
}

function inkOn([red, green, blue]) {
  return 0.3 * red + 0.59 * green + 0.11 * blue > 140 ? "#14171c" : "#ffffff";
}

function applyTheme() {
  const theme = chosenTheme ?? (wish.matches ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  palette = makePalette(theme);
  const button = document.getElementById("theme");
  button.textContent = theme === "dark" ? "Light" : "Dark";
  button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colours`);
  listeners.forEach((listen) => listen());
}

function startTheme() {
  document.getElementById("theme").addEventListener("click", () => {
    chosenTheme = palette.theme === "dark" ? "light" : "dark";
    applyTheme();
  });
  wish.addEventListener("change", applyTheme);
  applyTheme();
}
