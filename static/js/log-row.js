/* A line of a log as elements: its number (a link to the line), its text with colours and search hits, a row of its own
   for bytes that are missing. Text is only ever set as text, so nothing in a log is markup. */
import { readLine, show } from "./ansi.js";
import { icon, make } from "./dom.js";
import { count, size } from "./words.js";

/** `row`: line (from 0), parts, style (how the line before ended), query, marked, here, download(from, to).
    Returns { elements, style }. */
export function rowsOf(row) {
  const elements = [];
  let style = row.style, code = open(row, elements, true);
  const cut = row.parts.reduce((sum, part) => sum + (part.cut ?? 0), 0);
  if (cut) code.append(cutMark(`A long line, ${size(cut)} of it not shown`), " ");
  for (const part of row.parts) {
    if (part.gap) {
      elements.push(gapRow(part.gap));
      code = null;
      continue;
    }
    code ??= open(row, elements, false);
    if (part.cut) code.append(cutMark("…"));
    else style = write(code, part.text, style, row);
  }
  return { elements, style };
}

function open(row, elements, first) {
  const code = make("code"), number = count(row.line + 1);
  const link = first ? make("a", { href: `#L${row.line + 1}`, tabIndex: -1, textContent: number }) : make("span", { className: "no" });
  if (first) link.setAttribute("aria-label", `Line ${number}`);
  const item = make("li", { className: row.marked ? "marked" : "" }, link, code);
  if (first) item.id = `L${row.line + 1}`;
  elements.push(item);
  return code;
}

function write(code, text, style, row) {
  const read = readLine(text, style);
  const whole = read.runs.map((run) => run.text).join("");
  const hits = find(whole, row.query);
  if (!hits.length) code.append(...read.runs.map(show));
  else mark(code, read.runs, hits, row.here);
  return read.style;
}

/** Where a text is found, in letters; capitals and small ones are the same. */
function find(text, query) {
  const hits = [];
  if (!query) return hits;
  const low = text.toLowerCase(), needle = query.toLowerCase();
  for (let at = low.indexOf(needle); at >= 0 && hits.length < 1000; at = low.indexOf(needle, at + needle.length)) hits.push([at, at + needle.length]);
  return hits;
}

function mark(code, runs, hits, here) {
  let at = 0, next = 0;
  for (const run of runs) {
    for (let from = 0; from < run.text.length;) {
      while (next < hits.length && hits[next][1] <= at + from) next += 1;
      const [start, end] = hits[next] ?? [Infinity, Infinity];
      const inside = at + from >= start;
      const to = Math.min(run.text.length, (inside ? end : start) - at);
      const piece = show({ text: run.text.slice(from, to), style: run.style });
      code.append(inside ? make("mark", { className: here ? "here" : "" }, piece) : piece);
      from = to;
    }
    at += run.text.length;
  }
}

function gapRow([from, to, reason]) {
  const words = make("span", {}, make("strong", { textContent: `${count(to - from)} bytes are missing here` }),
    `, ${count(from)} to ${count(to - 1)}${reason ? `: ${reason}` : ""}.`);
  return make("li", { className: "gap tone-look", id: `gap-${from}` }, icon("alert-triangle"), words);
}

function cutMark(words) {
  return make("span", { className: "cut", textContent: words, title: "Download the log for the whole line" });
}
