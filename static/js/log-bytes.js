/* Bytes of a log in the browser, cut into lines. One idea: whatever is held is a list of pieces at their offsets; a line
   is looked up in it when it is shown and only then decoded. So memory has a bound whatever the size of the log: a tail
   of some MiB that grows and is trimmed, and some blocks of lines fetched for where the reader is.
   Of a line over LONG bytes only its head and its end are held. */

export const LONG = 64 << 10;
export const KEEP = 4 << 10;
const TAIL_MOST = 4 << 20, TAIL_LEAST = 2 << 20, TAIL_LINES = 200000;

/** Kept bytes between two offsets, in order: [{ at, bytes }]. */
function within(pieces, from, to) {
  const found = [];
  for (let i = firstAfter(pieces, from); i < pieces.length && pieces[i].at < to; i++) {
    const { at, bytes } = pieces[i];
    const start = Math.max(from, at), end = Math.min(to, at + bytes.length);
    if (start < end) found.push({ at: start, bytes: bytes.subarray(start - at, end - at) });
  }
  return found;
}

function firstAfter(pieces, offset) { // the first piece that ends after the offset
  let low = 0, high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces[middle].at + pieces[middle].bytes.length > offset) high = middle; else low = middle + 1;
  }
  return low;
}

/** Lines `first` on; `starts` holds the offset of each and, last, the end. */
export class Block {
  constructor(first, starts, pieces) {
    Object.assign(this, { first, starts, pieces });
    this.size = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  }

  has(line) {
    return line >= this.first && line < this.first + this.starts.length - 1;
  }

  line(line) {
    const from = this.starts[line - this.first], to = this.starts[line - this.first + 1];
    return { from, to, pieces: within(this.pieces, from, to) };
  }
}

/** The growing end of a log, from the start of a line on; `end` where bytes begin to come, later than that in a long line. */
export class Tail {
  constructor(line, start, end = start) {
    this.first = line;
    this.starts = [start];
    this.end = end;
    this.pieces = [];
    this.size = 0;
  }

  get total() { // lines, an unfinished last one included
    return this.first + this.starts.length - (this.starts[this.starts.length - 1] === this.end ? 1 : 0);
  }

  has(line) {
    return line >= this.first && line < this.total;
  }

  line(line) {
    const from = this.starts[line - this.first], to = this.starts[line - this.first + 1] ?? this.end;
    return { from, to, pieces: within(this.pieces, from, to) };
  }

  /** Adds what arrived; bytes that are here already are skipped, so a repeated frame does no harm. */
  push(at, bytes) {
    const known = Math.max(0, this.end - at);
    if (known >= bytes.length) return;
    const fresh = bytes.subarray(known), from = at + known, open = this.starts[this.starts.length - 1];
    for (let i = fresh.indexOf(10); i >= 0; i = fresh.indexOf(10, i + 1)) this.starts.push(from + i + 1);
    this.add(from, fresh);
    this.thin(open);
    if (this.size > TAIL_MOST || this.starts.length > TAIL_LINES) this.trim();
  }

  /** Jumps over bytes that are not kept on the portal. */
  skip(to) {
    this.end = Math.max(this.end, to);
  }

  add(at, bytes) {
    this.pieces.push({ at, bytes });
    this.size += bytes.length;
    this.end = at + bytes.length;
  }

  /** Of the line that starts at `open`, if it is long, keep head and end. */
  thin(open) {
    const index = this.starts.lastIndexOf(open), end = this.starts[index + 1] ?? this.end;
    if (end - open < 2 * LONG) return;
    const rest = within(this.pieces, end, this.end);
    const before = within(this.pieces, 0, open + KEEP), after = within(this.pieces, Math.max(open + KEEP, end - KEEP), end);
    this.pieces = [...before, ...after, ...rest].map(({ at, bytes }) => ({ at, bytes: bytes.slice() }));
    this.size = this.pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  }

  trim() {
    let size = this.size, i = 0;
    while (i < this.pieces.length - 1 && size > TAIL_LEAST) size -= this.pieces[i++].bytes.length;
    let lines = this.starts.findIndex((start) => start >= this.pieces[i].at);
    lines = Math.max(lines < 0 ? this.starts.length - 1 : lines, this.starts.length - TAIL_LINES / 2);
    this.starts.splice(0, lines);
    this.first += lines;
    this.pieces = within(this.pieces, this.starts[0], this.end);
    this.size = this.pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  }
}

/** A line as parts to show: { text }, { gap: [from, to, reason] } for bytes lost, { cut: n } for bytes not fetched. */
export function partsOf({ from, to, pieces }, gaps, decoder) {
  const parts = [];
  let at = from;
  for (const piece of [...pieces, { at: to, bytes: new Uint8Array() }]) {
    if (piece.at > at) parts.push(...missing(at, piece.at, gaps));
    if (piece.bytes.length) text(parts, piece.bytes);
    at = piece.at + piece.bytes.length;
  }
  return parts.map((part) => part.bytes ? { text: ended(decoder.decode(part.bytes)) } : part);
}

function text(parts, bytes) { // a letter may lie across two pieces, so join before decoding
  const last = parts[parts.length - 1];
  if (!last?.bytes) { parts.push({ bytes }); return; }
  const joined = new Uint8Array(last.bytes.length + bytes.length);
  joined.set(last.bytes);
  joined.set(bytes, last.bytes.length);
  last.bytes = joined;
}

function ended(line) {
  return line.replace(/\r*\n$/, "");
}

function missing(from, to, gaps) {
  const lost = gaps.filter(([start, end]) => start < to && end > from);
  const rest = (to - from) - lost.reduce((sum, [start, end]) => sum + Math.min(end, to) - Math.max(start, from), 0);
  return [...lost.map((gap) => ({ gap })), ...(rest > 0 ? [{ cut: rest }] : [])];
}
