/* Spent and forecast of a budget: the sum so far, how it goes on at the pace of the last days, the limit and its thresholds,
   the day on which nothing is left. Root: figure.plot[data-outlook] with one div; its value is what presenters/outlook.py
   makes: { at, spent, ahead, even, rules, marks }, moments in unix seconds. */
import { whenAdded } from "./dom.js";
import { axis, colour, day, mark, pictured, rule } from "./plot.js";

const APART = 16; // pixels between the words of two levels

const shown = (values) => values.filter((value) => value !== null);

function line(label, tone, more) {
  return { label, stroke: colour(tone), points: { show: false }, ...more };
}

function levels(u, rules) {
  let last = Infinity;
  for (const one of [...rules].sort((a, b) => a.at - b.at)) {
    const free = last - u.valToPos(one.at, "y") >= APART;
    const y = rule(u, one.at, one.words, { tone: one.tone, dash: one.solid ? [] : [5, 4], quiet: !free });
    if (y !== null && free) last = u.valToPos(one.at, "y");
  }
}

function picture({ at, spent, ahead, even, rules, marks }) {
  const top = Math.max(...shown(spent), ...shown(ahead), ...rules.filter((one) => one.solid).map((one) => one.at), 0.01);
  const options = {
    scales: { x: { time: true, range: [at[0], at[at.length - 1]] }, y: { range: [0, top * 1.28] } },
    axes: [axis({ size: 28, space: 80, values: (u, moments) => moments.map(day) }), axis({ size: 60, space: 34, values: (u, values) => values.map((value) => value.toLocaleString("en-GB")) })],
    series: [
      {}, line("even pace", "--s4", { dash: [3, 4], width: 1.25, spanGaps: true }),
      line("spent", "--s1", { width: 2.25 }), line("forecast", "--s1", { dash: [5, 4], width: 2, spanGaps: true }),
    ],
    hooks: { draw: [(u) => { levels(u, rules); for (const one of marks) mark(u, one.at, one.words, one); }] },
  };
  return { options, data: [at, even, spent, ahead] };
}

whenAdded("[data-outlook]", (figure) => pictured(figure.firstElementChild, () => picture(JSON.parse(figure.dataset.outlook))));
