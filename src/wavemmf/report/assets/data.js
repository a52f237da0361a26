// What the page shows, and the wavelets computed from the rotations.

const content = JSON.parse(document.getElementById("content").textContent);

function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (letter) => letter.charCodeAt(0));
  const numbers = new globalThis[packed.type](bytes.buffer);
  return packed.scale === 1 ? numbers : Float32Array.from(numbers, (x) => x * packed.scale);
}

const n = content.n;
const rotations = Object.fromEntries(
  Object.entries(content.rotations).map(([name, packed]) => [name, unpack(packed)]),
);
const frequencies = unpack(content.frequencies);
const support = unpack(content.support);
const mainSupport = unpack(content.main);
const octaves = unpack(content.octaves);
const hops = content.hops && unpack(content.hops);
const heirs = unpack(content.heirs);
const order = unpack(content.order);

// All rows of the basis in the order of the slider: wavelets as they were dropped, then the core.
const rows = [...rotations.wavelets, ...rotations.core];
const placeOf = new Uint32Array(n);
rows.forEach((coordinate, place) => { placeOf[coordinate] = place; });

// The level that dropped each row; the core counts as one level more than there are.
const levelOf = new Uint32Array(n).fill(content.levels + 1);
for (let level = 0; level < content.levels; level++) {
  for (let i = rotations.drop_offsets[level]; i < rotations.drop_offsets[level + 1]; i++) {
    levelOf[i] = level + 1;
  }
}

const blockOffsets = new Uint32Array(content.levels + 1);
for (let level = 0; level < content.levels; level++) {
  const size = rotations.offsets[level + 1] - rotations.offsets[level];
  blockOffsets[level + 1] = blockOffsets[level] + size * size;
}

function groupOf(level) {
  return rotations.groups.subarray(rotations.offsets[level - 1], rotations.offsets[level]);
}

// A row of W = U_L ... U_1 is a unit vector through the transposed rotations, last level first.
function basisRow(place) {
  const x = new Float64Array(n);
  x[rows[place]] = 1;
  for (let level = Math.min(levelOf[place], content.levels); level >= 1; level--) {
    rotateBack(x, groupOf(level), blockOffsets[level - 1]);
  }
  return x;
}

function rotateBack(x, group, start) {
  const size = group.length;
  if (!group.some((i) => x[i] !== 0)) return;
  const old = Array.from(group, (i) => x[i]);
  for (let j = 0; j < size; j++) {
    let sum = 0;
    for (let i = 0; i < size; i++) sum += rotations.blocks[start + i * size + j] * old[i];
    x[group[j]] = sum;
  }
}

function nodeName(i) {
  return content.drawing.names[i] ?? String(i);
}

function short(value, digits = 3) {
  if (value === 0) return "0";
  const text = Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6
    ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function plural(count, word) {
  return `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
}
