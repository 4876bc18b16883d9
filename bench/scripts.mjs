// The scripts that every engine runs: one that does nothing much, and one that computes for a while.
export const trivial = "const a = []; for (let i = 0; i < 100; i++) a.push(i * i); return JSON.stringify(a).length";

export const heavy = `
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let text = 0;
const sums = {};
for (let i = 0; i < 100000; i++) {
  const key = "k" + (i % 1000);
  sums[key] = (sums[key] || 0) + i;
  text += JSON.stringify({ a: i, b: "x" + i }).length;
}
const rows = [];
for (let i = 0; i < 100000; i++) rows.push({ id: i, v: (i * 7919) % 10007 });
rows.sort((a, b) => a.v - b.v);
return fib(24) + text + rows.filter((r) => r.v % 2 === 0).map((r) => r.id).reduce((a, b) => a + b, 0);`;
