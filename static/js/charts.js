/* Health of a job's nodes as charts (uPlot), live: new points are asked for and appended, nothing is drawn anew.
   One idea: one answer carries what every node told since a time; each chart picks its figure from it.

   Root: [data-health] with the address of the history, data-live with that of the socket; inside figure.plot[data-chart]
   with one div. History: { nodes: [{ node, name, cores, memory, beats }] }, beats as the agents sent them, `at` in unix
   seconds. Socket: { type: "points", node, points }. Over four nodes the charts show highest, mean and lowest. */
import { make, whenAdded } from "./dom.js";
import { axis, colour, frame, rule, sample } from "./plot.js";
import { Socket } from "./socket.js";
import { count } from "./words.js";

const GIB = 2 ** 30, MIB = 2 ** 20, MOST_POINTS = 1500;
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3]];
const FIGURES = {
  cpu: { of: (beat) => beat.cpu, limit: (node) => [node.cores, `${count(node.cores)} core${node.cores === 1 ? "" : "s"}`] },
  memory: { of: (beat) => scaled(beat.memory, GIB), limit: (node, beat) => { const all = scaled(beat.memory_total ?? node.memory, GIB); return [all, `${all?.toFixed(1)} GiB usable`]; } },
  disk: { of: (beat) => scaled(beat.disk_used, GIB) },
  net: { of: (beat) => scaled((beat.net_in ?? 0) + (beat.net_out ?? 0), MIB) },
};

function scaled(value, unit) {
  return value === undefined || value === null ? null : value / unit;
}

class Health {
  constructor(root) {
    this.root = root;
    this.nodes = [];
    this.since = 0;
    this.charts = [...root.querySelectorAll("figure[data-chart]")].map((figure) => new Chart(figure));
    this.load();
    for (const event of ["headrace:theme", "visibilitychange"]) document.addEventListener(event, () => this.draw());
    let resizing;
    addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => this.charts.forEach((chart) => chart.fit()), 120); });
  }

  /** The history, then what comes; asked for again when a node speaks that is not known yet. */
  async load() {
    try {
      const answer = await fetch(this.root.dataset.health, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.status);
      for (const node of (await answer.json()).nodes) this.merge(node);
    } catch {
      setTimeout(() => this.load(), 5000);
      return;
    }
    this.draw();
    if (this.root.dataset.live && !this.socket) this.socket = new Socket(() => `${this.root.dataset.live}?since=${this.since}`, { message: (data) => this.came(JSON.parse(data)), link: () => {} });
  }

  came(message) {
    if (!this.root.isConnected) { this.socket.close(); return; }
    if (message.type !== "points") return;
    if (!this.nodes.some((node) => node.node === message.node)) { this.load(); return; }
    this.merge({ node: message.node, beats: message.points });
    this.draw();
  }

  draw() {
    this.key();
    if (!document.hidden) this.charts.forEach((chart) => chart.draw(this.nodes));
  }

  merge(node) {
    const known = this.nodes.find((one) => one.node === node.node) ?? this.nodes[this.nodes.push({ ...node, beats: [] }) - 1];
    const last = known.beats[known.beats.length - 1]?.at ?? 0;
    known.beats.push(...node.beats.filter((beat) => beat.at > last));
    known.beats = thinned(known.beats);
    this.since = Math.max(this.since, known.beats[known.beats.length - 1]?.at ?? 0);
  }

  /** Which line is which node; not needed for one. */
  key() {
    const names = linesOf(this.nodes, () => null).map((line) => line.name);
    if (names.length < 2 || this.names?.children.length === names.length) return;
    this.names ??= make("ul", { className: "key" });
    this.names.setAttribute("aria-label", "Lines");
    this.names.replaceChildren(...names.map((name, i) => make("li", {}, sample(i % 4 + 1), name)));
    this.root.before(this.names);
  }
}

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.host = figure.firstElementChild;
    this.about = FIGURES[figure.dataset.chart];
    this.words = figure.dataset.name || figure.dataset.chart;
  }

  draw(nodes) {
    const lines = linesOf(nodes, this.about.of).filter((line) => line.data[0].length);
    if (!lines.length) { this.empty(); return; }
    const data = lines.length > 1 ? uPlot.join(lines.map((line) => line.data)) : lines[0].data;
    const look = `${document.documentElement.dataset.bsTheme} ${lines.length}`;
    this.limit = this.about.limit?.(nodes[0], nodes[0].beats[nodes[0].beats.length - 1] ?? {});
    this.say(nodes);
    if (this.plot && this.look === look) { this.plot.setData(data); return; }
    this.look = look;
    this.plot?.destroy();
    this.host.replaceChildren();
    this.plot = new uPlot(this.options(lines), data, this.host);
  }

  fit() {
    this.plot?.setSize({ width: this.host.clientWidth, height: this.host.clientHeight });
  }

  empty() {
    if (!this.host.firstElementChild) this.host.append(make("p", { className: "none", textContent: "Nothing measured yet" }));
  }

  /** What is to be seen, for those who can't see it. */
  say(nodes) {
    const now = nodes.map((node) => this.about.of(node.beats[node.beats.length - 1] ?? {})).filter((value) => value !== null && value !== undefined);
    const words = now.slice(0, 4).map((value) => value.toFixed(1)).join(", ");
    const label = `${this.words}. Now ${words}${now.length > 4 ? ` on the first 4 of ${now.length} nodes` : ""}`;
    if (this.host.getAttribute("aria-label") !== label) this.host.setAttribute("aria-label", label);
  }

  options(lines) {
    return {
      ...frame(this.host),
      scales: { x: { time: true }, y: { range: (u, low, high) => [0, Math.max(high * 1.15, (this.limit?.[0] ?? 0) < high * 3 ? (this.limit?.[0] ?? 0) * 1.12 : 0, 0.01)] } },
      axes: [
        axis({ size: 28, space: 80, values: (u, at, index, space, step) => at.map((moment) => hour(moment, step < 60)) }),
        axis({ size: 50, space: 34, values: (u, at, index, space, step) => at.map((value) => figure(value, step)) }),
      ],
      series: [{}, ...lines.map((line, i) => ({ label: line.name, stroke: colour(`--s${i % 4 + 1}`), dash: DASHES[i % 4], width: 1.75, spanGaps: true, points: { show: false } }))],
      hooks: { draw: [(u) => { if (this.limit?.[0]) rule(u, ...this.limit); }] },
    };
  }
}

/** A line for each node; over four of them the highest, the mean and the lowest at each moment. */
function linesOf(nodes, of) {
  const tables = nodes.map((node) => {
    const told = node.beats.filter((beat) => of(beat) !== null && of(beat) !== undefined);
    return [told.map((beat) => beat.at), told.map(of)];
  });
  if (nodes.length <= 4) return nodes.map((node, i) => ({ name: node.name, data: tables[i] }));
  const seen = tables.filter((table) => table[0].length), moments = seen.length ? [...seen.reduce((a, b) => a[0].length >= b[0].length ? a : b)[0]] : [];
  const at = moments.map((moment) => seen.map((table) => latest(table, moment)).filter((value) => value !== null));
  const line = (name, pick) => ({ name, data: [moments, at.map((values) => values.length ? pick(values) : null)] });
  return [line("highest", (v) => Math.max(...v)), line("mean", (v) => v.reduce((a, b) => a + b, 0) / v.length), line("lowest", (v) => Math.min(...v))];
}

function latest([times, values], moment) {
  let low = 0, high = times.length;
  while (low < high) { const middle = (low + high) >> 1; if (times[middle] <= moment) low = middle + 1; else high = middle; }
  return low ? values[low - 1] : null;
}

function thinned(beats) { // the older half loses every second point
  if (beats.length <= MOST_POINTS) return beats;
  const half = beats.length >> 1;
  return beats.filter((_, i) => i >= half || i % 2 === 0);
}

function hour(at, seconds) {
  const digits = { hour: "2-digit", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) };
  return new Date(at * 1000).toLocaleTimeString("en-GB", digits);
}

/** As many decimals as the steps of the axis need. */
function figure(value, step) {
  const decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  return value === 0 ? "0" : value.toLocaleString("en-GB", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

whenAdded("[data-health]", (root) => new Health(root));
