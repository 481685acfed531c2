/* What the charts of the pages have in common (uPlot): axes, rules and marks with words, and a picture that is drawn anew
   for another theme or width and forgotten when its place leaves the page. */
const SVG = "http://www.w3.org/2000/svg";
const FONT = "'Inter Variable', sans-serif";

/** Draws `show()` ({ options, data }) in `host` now and whenever it has to be; a `null` leaves what is there. Returns a redraw. */
export function pictured(host, show) {
  let plot, resizing;
  const over = new AbortController(), { signal } = over;
  const draw = () => {
    if (!host.isConnected) { plot?.destroy(); over.abort(); return; }
    const made = show();
    if (!made) return;
    plot?.destroy();
    host.replaceChildren();
    plot = new uPlot({ ...frame(host), ...made.options }, made.data, host);
  };
  document.addEventListener("headrace:theme", draw, { signal });
  addEventListener("resize", () => { clearTimeout(resizing); resizing = setTimeout(draw, 150); }, { signal });
  draw();
  return draw;
}

/** The options that all charts share. */
export function frame(host) {
  return { width: host.clientWidth, height: host.clientHeight, legend: { show: false }, padding: [10, 22, 0, 0], cursor: { y: false, points: { size: 6 } } };
}

export function axis(more) {
  return { stroke: colour("--ink-2"), font: `12px ${FONT}`, ticks: { show: false }, grid: { stroke: colour("--line"), width: 1 }, gap: 6, ...more };
}

/** A level with words: a limit, a threshold. At its left end or its `right` one; without words where `quiet`. Returns where it lies, in pixels; null if out of sight. */
export function rule(u, at, words, { tone = "--ink-2", dash = [5, 4], quiet = false, right = false } = {}) {
  if (at > u.scales.y.max || at < u.scales.y.min) return null;
  const y = Math.round(u.valToPos(at, "y", true)), { left, width } = u.bbox;
  painted(u, tone, dash, [left, y, left + width, y]);
  const x = right ? left + width - 6 * devicePixelRatio : left + 6 * devicePixelRatio;
  if (!quiet) written(u, words, tone, x, y - 3 * devicePixelRatio, right ? "right" : "left", "bottom");
  return y / devicePixelRatio;
}

/** A moment with words, on the side where there is room for them; at the foot where `low`. */
export function mark(u, at, words, { tone = "--ink-2", low = false } = {}) {
  if (at > u.scales.x.max || at < u.scales.x.min) return;
  const x = Math.round(u.valToPos(at, "x", true)), { left, top, width, height } = u.bbox, r = devicePixelRatio;
  const right = x > left + width / 2;
  painted(u, tone, [3, 3], [x, top, x, top + height]);
  const y = low ? top + height - 4 * r : top + 2 * r;
  written(u, words, tone, x + (right ? -6 : 6) * r, y, right ? "right" : "left", low ? "bottom" : "top");
}

function painted(u, tone, dash, [x0, y0, x1, y1]) {
  const c = u.ctx, r = devicePixelRatio;
  c.save();
  c.strokeStyle = colour(tone);
  c.lineWidth = 1.5 * r;
  c.setLineDash(dash.map((part) => part * r));
  c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke();
  c.restore();
}

function written(u, words, tone, x, y, align, baseline) {
  const c = u.ctx;
  c.save();
  c.font = `600 ${12 * devicePixelRatio}px ${FONT}`;
  c.fillStyle = colour(tone);
  c.textAlign = align;
  c.textBaseline = baseline;
  c.fillText(words, x, y);
  c.restore();
}

/** The look of line `number` (from 1) for a key; the style of .s1 and so on is in charts.css. */
export function sample(number) {
  const svg = document.createElementNS(SVG, "svg"), line = document.createElementNS(SVG, "line");
  svg.setAttribute("viewBox", "0 0 20 8");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, value] of Object.entries({ x1: 0, y1: 4, x2: 20, y2: 4, class: `s${number}` })) line.setAttribute(name, value);
  svg.append(line);
  return svg;
}

/** 17 Sep, of unix seconds. */
export function day(moment) {
  return new Date(moment * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

const probe = document.createElement("i");
export function colour(name) { // a token as a plain colour: a canvas does not know light-dark()
  probe.style.color = `var(${name})`;
  probe.hidden = true;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
