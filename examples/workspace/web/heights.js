// The same sum as src/tides.py, for the browser.
// NOTE: keep the constants equal to src/tides.py; tests/same_constants.py checks it
export const constituents = [
  ["M2", 1.12, 28.984104, 61.0],
  ["S2", 0.41, 30.0, 93.5],
  ["N2", 0.23, 28.43973, 42.1],
  ["K1", 0.11, 15.041069, 12.7],
];

export function heights(start, hours) {
  const out = [];
  for (let hour = 0; hour <= hours; hour += 0.25) {
    let height = 2.4;
    for (const [, amplitude, speed, phase] of constituents) {
      height += amplitude * Math.cos(((speed * (start + hour) - phase) * Math.PI) / 180);
    }
    out.push({ hour, height });
  }
  return out;
}
