/* Spend of a budget by day (uPlot): a line for each of the largest, asked for again when another grouping is chosen.
   Root: [data-spend] with the address, holding a select[name=by] and figure.plot with one div; without the script the
   tables beside it say the same sums. */
import { make, whenAdded } from "./dom.js";
import { axis, colour, day, frame } from "./plot.js";

const LEGEND = 30; // pixels for the names of the lines, below the chart
const DASHES = [[], [6, 3], [2, 3], [10, 3, 2, 3], [1, 2]];

class Spend {
  constructor(root) {
    this.root = root;
    this.host = root.querySelector("figure.plot").firstElementChild;
    this.by = root.querySelector("select[name=by]");
    this.by.addEventListener("change", () => this.load());
    document.addEventListener("headrace:theme", () => this.draw());
    let resizing;
    addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(() => this.draw(), 150); });
    this.load();
  }

  async load() {
    try {
      const answer = await fetch(`${this.root.dataset.spend}?by=${encodeURIComponent(this.by.value)}`, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(answer.status);
      this.data = await answer.json();
    } catch {
      this.say("The portal did not answer; choose again to retry.");
      return;
    }
    this.draw();
  }

  say(words) {
    this.plot?.destroy();
    this.plot = null;
    this.host.replaceChildren(make("p", { className: "none", textContent: words }));
  }

  draw() {
    if (!this.data) return;
    const { days, series } = this.data;
    if (!series.length) { this.say("Nothing spent in these days"); return; }
    this.plot?.destroy();
    this.host.replaceChildren();
    this.host.setAttribute("aria-label", `Spend by day: ${series.map((line) => `${line.name} ${line.values.reduce((a, b) => a + b, 0).toFixed(2)}`).join(", ")} in all`);
    this.plot = new uPlot(this.options(series), [days, ...series.map((line) => line.values)], this.host);
  }

  options(series) {
    return {
      ...frame(this.host), height: this.host.clientHeight - LEGEND, legend: { show: true, live: false },
      scales: { x: { time: true }, y: { range: (u, low, high) => [0, Math.max(high * 1.15, 0.01)] } },
      axes: [
        axis({ size: 28, space: 80, values: (u, at) => at.map(day) }),
        axis({ size: 56, space: 34 }),
      ],
      series: [{}, ...series.map((line, i) => ({ label: line.name, stroke: colour(`--s${i % 4 + 1}`), dash: DASHES[i % 5], width: 1.75, points: { show: series[0].values.length < 40, size: 4 } }))],
    };
  }
}

whenAdded("[data-spend]", (root) => new Spend(root));
