/* Cores in use over the last day, a step for each quarter of an hour. Root: figure.plot[data-occupied] with one div; its
   value is { at, cores, now, total }: begins in unix seconds, means of the steps, and how many cores there are now (or null). */
import { whenAdded } from "./dom.js";
import { axis, colour, pictured, rule } from "./plot.js";
import { count } from "./words.js";

function picture({ at, cores, now, total }) {
  const top = Math.max(...cores, 1), far = total > top * 3; // a limit far above would flatten the line
  const clock = (moment) => new Date(moment * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const options = {
    scales: { x: { time: true, range: [at[0], now] }, y: { range: [0, (far ? top : Math.max(top, total ?? 0)) * 1.2] } },
    axes: [axis({ size: 28, space: 80, values: (u, moments) => moments.map(clock) }), axis({ size: 50, space: 34, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 2e4, 5e4, 1e5], values: (u, values) => values.map(count) })],
    series: [{}, { label: "in use", stroke: colour("--s1"), width: 2, fill: colour("--accent-soft"), points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) }],
    hooks: { draw: [(u) => { if (total && !far) rule(u, total, `${count(total)} core${total === 1 ? "" : "s"} there now`); }] },
  };
  return { options, data: [[...at, now], [...cores, cores[cores.length - 1]]] };
}

whenAdded("[data-occupied]", (figure) => pictured(figure.firstElementChild, () => picture(JSON.parse(figure.dataset.occupied))));
