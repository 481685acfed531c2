/* One line of terminal output as runs of text: colours, carriage returns, backspaces and moves within the line, as a
   terminal would show it in the end. One idea: a line is a row of cells and a cursor; an escape sequence may change the
   look of what follows or where it goes, and nothing else. Whatever else a sequence says is dropped; a control
   character that means nothing here is shown by its name (NUL), so that no byte disappears silently.

   Libraries for this write markup with inline styles, which the pages forbid, and don't know carriage returns. */

const WIDEST = 8192; // cells: a move to the right can't make a line longer than this
const PLAIN = Object.freeze({ fg: "", bg: "", flags: "" });
const MARK = Object.freeze({ fg: "", bg: "", flags: "mark" });
const CONTROLS = "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(" ");
const NAMES = ["k", "r", "g", "y", "b", "m", "c", "w"];
const FLAGS = { 1: "bold", 2: "dim", 3: "italic", 4: "line", 7: "turned", 9: "struck" };
const UNSET = { 22: ["bold", "dim"], 23: ["italic"], 24: ["line"], 27: ["turned"], 29: ["struck"] };
const SPECIAL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
// CSI, one that the line cuts off; strings up to BEL, ESC \ or the line's end; sequences of two or three characters
const SEQUENCE = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\[[0-?]*[ -/]*$|[\]PX^_].*?(?:\x07|\x1b\\|$)|[ -/]*[0-~]|$)/ys;

/** Reads a line: `style` is how the line before ended. Returns { runs: [{ text, style }], style }. */
export function readLine(text, style = PLAIN) {
  if (!SPECIAL.test(text)) return { runs: text ? [{ text, style }] : [], style };
  const row = new Row(style);
  for (let at = 0; at < text.length;) at = row.take(text, at);
  return { runs: row.runs(), style: row.style };
}

/** The element for a run: classes for the colours of a theme, a mixed colour for all others. */
export function show(run) {
  const { fg, bg, flags } = run.style;
  if (!fg && !bg && !flags) return document.createTextNode(run.text);
  const span = document.createElement("span");
  span.textContent = run.text;
  const classes = flags ? flags.split(" ").map((flag) => `a-${flag}`) : [];
  if (fg.length === 1) classes.push(`a-${fg}`);
  else if (fg) span.style.color = `light-dark(oklch(from ${fg} min(l, 0.5) c h), oklch(from ${fg} max(l, 0.72) c h))`; // readable
  if (bg.length === 1) classes.push(`a-on-${bg}`);
  else if (bg) span.style.background = `color-mix(in oklab, ${bg} 30%, var(--log-bg))`;
  span.className = classes.join(" ");
  return span;
}

class Row {
  constructor(style) {
    this.style = style;
    this.cells = [];
    this.styles = [];
    this.at = 0;
  }

  take(text, from) {
    const letter = text[from];
    if (letter === "\x1b") return this.sequence(text, from);
    if (letter === "\r") this.at = 0;
    else if (letter === "\b") this.at = Math.max(0, this.at - 1);
    else if (letter === "\x07" || letter === "\x0e" || letter === "\x0f") { /* bell, shifts: nothing to see */ }
    else {
      const whole = String.fromCodePoint(text.codePointAt(from));
      if (SPECIAL.test(whole)) this.put(named(whole), MARK);
      else this.put(whole, this.style);
      return from + whole.length;
    }
    return from + 1;
  }

  put(letter, style) {
    while (this.cells.length < this.at) { this.cells.push(" "); this.styles.push(PLAIN); }
    this.cells[this.at] = letter;
    this.styles[this.at] = style;
    this.at += 1;
  }

  sequence(text, from) {
    SEQUENCE.lastIndex = from;
    const found = SEQUENCE.exec(text);
    if (!found) return from + 1;
    if (found[2]) this.act(found[2], found[1].split(/[;:]/).map((part) => parseInt(part, 10) || 0));
    return SEQUENCE.lastIndex;
  }

  act(final, numbers) {
    const n = Math.max(1, numbers[0]);
    if (final === "m") this.style = restyle(this.style, numbers);
    else if (final === "C") this.at = Math.min(WIDEST, this.at + n);
    else if (final === "D") this.at = Math.max(0, this.at - n);
    else if (final === "G") this.at = Math.min(WIDEST, n - 1);
    else if (final === "K") this.erase(numbers[0]);
    else if (final === "P") { this.cells.splice(this.at, n); this.styles.splice(this.at, n); }
  }

  /** 0 to the end, 1 to the cursor, 2 all of it. */
  erase(which) {
    if (which === 1) {
      const end = Math.min(this.at + 1, this.cells.length);
      this.cells.fill(" ", 0, end);
      this.styles.fill(PLAIN, 0, end);
      return;
    }
    this.cells.length = this.styles.length = which === 2 ? 0 : Math.min(this.cells.length, this.at);
  }

  runs() {
    const runs = [];
    for (let i = 0; i < this.cells.length; i++) {
      const last = runs[runs.length - 1];
      if (last && last.style === this.styles[i]) last.text += this.cells[i];
      else runs.push({ text: this.cells[i], style: this.styles[i] });
    }
    return runs;
  }
}

function named(letter) {
  const code = letter.charCodeAt(0);
  return CONTROLS[code] ?? (code === 0x7f ? "DEL" : `x${code.toString(16).toUpperCase()}`);
}

function restyle(style, numbers) {
  let { fg, bg } = style;
  const flags = new Set(style.flags ? style.flags.split(" ") : []);
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    if (n === 0) { fg = bg = ""; flags.clear(); }
    else if (FLAGS[n]) flags.add(FLAGS[n]);
    else if (UNSET[n]) UNSET[n].forEach((flag) => flags.delete(flag));
    else if (n === 38 || n === 48) {
      const [colour, used] = extended(numbers, i + 1);
      if (n === 38) fg = colour; else bg = colour;
      i += used;
    }
    else if (n === 39) fg = "";
    else if (n === 49) bg = "";
    else if ((n >= 30 && n < 38) || (n >= 90 && n < 98)) fg = NAMES[n % 10];
    else if ((n >= 40 && n < 48) || (n >= 100 && n < 108)) bg = NAMES[n % 10];
  }
  return { fg, bg, flags: [...flags].join(" ") };
}

/** 5;n or 2;r;g;b: the colour and how many numbers it took. */
function extended(numbers, at) {
  if (numbers[at] === 5) return [palette(numbers[at + 1] ?? 0), 2];
  if (numbers[at] === 2) return [rgb(numbers.slice(at + 1, at + 4)), 4];
  return ["", 1];
}

function palette(n) {
  if (n < 16) return NAMES[n % 8];
  if (n < 232) return rgb([36, 6, 1].map((step) => [0, 95, 135, 175, 215, 255][Math.floor((n - 16) / step) % 6]));
  return rgb(Array(3).fill(8 + 10 * (Math.min(n, 255) - 232)));
}

function rgb(parts) {
  return `rgb(${[0, 1, 2].map((i) => Math.min(255, parts[i] ?? 0)).join(" ")})`;
}
