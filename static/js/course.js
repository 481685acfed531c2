/* The course of a run as a chart that grows (uPlot): residuals on a logarithmic axis with their tolerances, or energies.
   One idea: a push never carries points. It replaces the table beside the chart, [data-points], and that makes the chart
   ask for the series again; the canvas stays, and asks at most every two seconds.

   Root: [data-course] with the address, holding h2, ul.key and figure.plot with one div. Answer: { title, x, logarithmic,
   series: [{ name, points: [[x, y]], tolerance }] }. */
import { make, whenAdded } from "./dom.js";
import { axis, colour, frame, rule, sample } from "./plot.js";

const PAUSE = 2000; // ms
const DASHES = [[], [7, 3], [2, 3], [10, 3, 2, 3]];
const COLOURS = 4;

class Course {
  constructor(root) {
    this.root = root;
    this.host = root.querySelector("figure.plot").firstElementChild;
    this.asked = -PAUSE;
    for (const event of ["headrace:theme", "visibilitychange"]) document.addEventListener(event, () => this.draw());
    let resizing;
    addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => this.fit(), 120); });
  }

  /** Ask now, or as soon as the pause since the last time is over. */
  soon() {
    if (this.waiting) return;
    this.waiting = setTimeout(() => this.load(), Math.max(0, this.asked + PAUSE - performance.now()));
  }

  async load() {
    this.waiting = null;
    this.asked = performance.now();
    try {
      const answer = await fetch(this.root.dataset.course, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.status);
      this.data = await answer.json();
    } catch {
      setTimeout(() => this.root.isConnected && this.soon(), 5000);
      return;
    }
    this.draw();
  }

  draw() {
    if (!this.data?.series.length || document.hidden) return;
    this.root.hidden = false;
    const { series, title, logarithmic } = this.data;
    const look = `${document.documentElement.dataset.bsTheme} ${logarithmic} ${series.map((one) => one.name)}`;
    this.root.querySelector("h2").textContent = title;
    this.host.setAttribute("aria-label", inWords(this.data));
    if (this.plot && this.look === look) { this.plot.setData(table(this.data)); return; }
    this.look = look;
    this.plot?.destroy();
    this.host.replaceChildren();
    this.root.querySelector(".key").replaceChildren(...series.map((one, i) => make("li", {}, sample(i + 1), one.name)));
    this.plot = new uPlot(this.options(), table(this.data), this.host);
  }

  fit() {
    this.plot?.setSize({ width: this.host.clientWidth, height: this.host.clientHeight });
  }

  options() {
    const { series, x, logarithmic } = this.data;
    const below = axis({ size: 26, space: 70, label: x, labelSize: 18, labelGap: 0, values: (u, at) => at.map((value) => value.toLocaleString("en-GB")) });
    const beside = axis({ size: 58, space: 30, values: (u, at) => at.map(logarithmic ? decade : short) });
    if (logarithmic) beside.grid.filter = (u, at) => at.map((value) => (decade(value) ? value : null));
    return {
      ...frame(this.host),
      scales: { x: { time: false }, y: logarithmic ? { distr: 3, range: (u, low, high) => decades(low, high, this.tolerances()) } : {} },
      axes: [{ ...below, labelFont: below.font }, beside],
      series: [{}, ...series.map((one, i) => ({ label: one.name, stroke: colour(`--s${i % COLOURS + 1}`), dash: dash(i), width: 1.75, spanGaps: true, points: { show: one.points.length < 2, size: 5 } }))],
      hooks: { draw: [(u) => this.tolerances().forEach((value, i) => rule(u, value, `tolerance ${short(value)}`, { right: i % 2 === 0 }))] },
    };
  }

  tolerances() {
    return [...new Set(this.data.series.map((one) => one.tolerance).filter((value) => value > 0))];
  }
}

function dash(i) {
  return DASHES[(i + Math.floor(i / COLOURS)) % DASHES.length];
}

/** One table of all series: each was thinned by its own count, so their x differ. */
function table({ series, logarithmic }) {
  const tables = series.map(({ points }) => [points.map(([x]) => x), points.map(([, y]) => (logarithmic && y <= 0 ? null : y))]);
  const sorted = tables.map(ordered);
  return sorted.length > 1 ? uPlot.join(sorted) : sorted[0];
}

/** x must grow: where a solver began anew (a second run in one log), the later points win. */
function ordered([xs, ys]) {
  const at = new Map(xs.map((x, i) => [x, ys[i]]));
  const grown = [...at.keys()].sort((a, b) => a - b);
  return [grown, grown.map((x) => at.get(x))];
}

function decades(low, high, tolerances) {
  const near = tolerances.filter((value) => value > low / 1e3 && value < high * 1e3);
  const first = Math.min(low, ...near), last = Math.max(high, ...near);
  return [10 ** Math.floor(Math.log10(first)), 10 ** Math.ceil(Math.log10(last) + 1e-9)];
}

function decade(value) {
  const power = value > 0 ? Math.log10(value) : NaN;
  return Math.abs(power - Math.round(power)) < 1e-6 ? `1e${Math.round(power)}` : null;
}

function short(value) {
  return value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3) ? value.toExponential(1) : value.toLocaleString("en-GB", { maximumSignificantDigits: 6 });
}

/** What is to be seen, for those who can't see it. */
function inWords({ title, x, logarithmic, series }) {
  const lines = series.map(({ name, points, tolerance }) => {
    const first = points[0][1], last = points.at(-1)[1], went = last < first ? "fell" : last > first ? "rose" : "stayed";
    return `${name} ${went} from ${short(first)} to ${short(last)}${tolerance ? `, tolerance ${short(tolerance)}` : ""}`;
  });
  return `${title} against ${x}${logarithmic ? ", logarithmic" : ""}. ${lines.join("; ")}.`;
}

const charts = new WeakMap();
whenAdded("[data-course]", (root) => charts.set(root, new Course(root)));
whenAdded("[data-points]", () => charts.get(document.querySelector("[data-course]"))?.soon());
