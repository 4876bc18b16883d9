// Fan out 40 reads: every day's log at once (the host runs a few at a time), one line back.
const { files } = await tools.list_files({ path: "logs", limit: 500 });
let finished = 0;
const days = await tools.map(files, async (path) => {
  const { text } = await tools.read_file({ path });
  progress({ completed: ++finished, total: files.length, note: path });
  return {
    day: path.slice(-14, -4),
    errors: (text.match(/ ERROR /g) ?? []).length,
    warnings: (text.match(/ WARN /g) ?? []).length,
    lowest: Math.min(...[...text.matchAll(/height=(-?\d+)/g)].map((m) => Number(m[1]))),
  };
});

const worst = days.toSorted((a, b) => b.errors - a.errors || b.warnings - a.warnings)[0];
return {
  days: days.length,
  errors: days.reduce((sum, d) => sum + d.errors, 0),
  warnings: days.reduce((sum, d) => sum + d.warnings, 0),
  worst,
  lowestWater: Math.min(...days.map((d) => d.lowest)),
};
