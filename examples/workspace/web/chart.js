// Draws tomorrow's tide curve into a canvas.
import { heights } from "./heights.js";

const PADDING = 24;

export function drawCurve(canvas, start) {
  const ctx = canvas.getContext("2d");
  const points = heights(start, 24);
  const top = Math.max(...points.map((p) => p.height));
  ctx.beginPath();
  for (const p of points) {
    const x = PADDING + (p.hour / 24) * (canvas.width - 2 * PADDING);
    const y = canvas.height - PADDING - (p.height / top) * (canvas.height - 2 * PADDING);
    ctx.lineTo(x, y);
  }
  ctx.stroke();
}
