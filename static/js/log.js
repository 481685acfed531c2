/* Live output: wires a section.viewer[data-log] (templates/jobs/_viewer.html) to its log. It opens at the end and follows;
   scrolling up pauses and counts new lines. Parts: log-source (bytes come), log-bytes (are held), log-row (are shown),
   log-view (in a list of which only what is in sight exists), log-search. */
import { icon, make, whenAdded } from "./dom.js";
import { Block, KEEP, LONG, partsOf, Tail } from "./log-bytes.js";
import { rowsOf } from "./log-row.js";
import { Search } from "./log-search.js";
import { Source } from "./log-source.js";
import { View } from "./log-view.js";
import { count, size } from "./words.js";

const BLOCK = 256; // lines fetched at once
const BLOCKS = 32, BLOCK_BYTES = 16 << 20; // held at most
const TAIL = 400; // lines of the end that are fetched at first
const TAIL_BYTES = 512 << 10;
const LINKS = {
  connecting: ["wait", "Connecting"], open: ["pass", "Connected"],
  lost: ["look", "Connection lost, reconnecting"], refused: ["look", "Not connected: sign in again"],
};

class Viewer {
  constructor(root) {
    this.root = root;
    this.decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    this.source = new Source(root.dataset, { info: (info) => this.told(info), bytes: (at, bytes) => this.came(at, bytes), link: (word) => this.link(word) });
    this.info = null;
    this.reset();
    this.none = make("p", { className: "log-none", textContent: root.dataset.empty ?? "", hidden: true });
    this.at("log").replaceChildren(this.none, ...this.root.querySelectorAll(".log-new"));
    this.view = new View(this.at("log"), { total: () => this.total(), rows: (line, old) => this.rows(line, old), followed: (on) => this.followed(on) });
    this.search = new Search(this);
    this.wire();
    this.source.connect();
  }

  at(part) {
    return this.root.querySelector(`[data-part="${part}"]`);
  }

  reset() {
    this.tail = null;
    this.blocks = new Map();
    this.loading = new Set();
    this.known = 0;
    this.pausedAt = null;
  }

  total() {
    return this.tail ? this.tail.total : this.known;
  }

  /* ---- what comes ---- */

  async told(info) {
    const other = this.info && info.generation !== this.info.generation;
    const again = this.info === null || other || this.needsFollow;
    this.info = info;
    this.source.generation = info.generation;
    if (other) { this.reset(); this.view.forget(); }
    if (again) await this.start();
    this.foot();
  }

  /** Follow from the last lines on; after a break from where it broke. */
  async start() {
    this.needsFollow = false;
    this.tail ??= await this.newTail().catch(() => null);
    if (!this.tail) { setTimeout(() => this.start(), 2000); return; }
    this.source.follow(this.tail.end);
    if (!this.started) this.toHash();
    this.started = true;
    this.view.draw();
  }

  async newTail() {
    const total = this.info.lines ?? (await this.source.lines(0, 0)).total;
    const from = Math.max(0, total - TAIL);
    const { first, offsets } = await this.source.lines(from, TAIL);
    if (!offsets.length) return new Tail(0, 0);
    const starts = offsets.slice(0, -1), end = offsets[offsets.length - 1];
    const near = starts.findIndex((start) => end - start <= TAIL_BYTES);
    if (near >= 0) return new Tail(first + near, starts[near]);
    return new Tail(first + starts.length - 1, starts[starts.length - 1], end - KEEP); // a last line longer than that
  }

  came(at, bytes) {
    if (!this.tail) return;
    if (at > this.tail.end) this.tail.skip(at);
    this.tail.push(at, bytes);
    this.speed(at + bytes.length);
    this.view.draw();
    this.soon ??= setTimeout(() => { this.soon = null; this.foot(); this.news(); }, 200);
  }

  link(word) {
    const [tone, words] = LINKS[word];
    const place = this.at("link");
    if (word === "lost") this.needsFollow = true;
    if (!place || place.dataset.word === word) return;
    place.dataset.word = word;
    place.className = `live tone-${tone}`;
    place.replaceChildren(make("span", { className: "dot" }), words);
  }

  /* ---- lines ---- */

  rows(line, old) {
    const block = this.holder(line), key = this.key(line, block);
    if (old?.length && old.key === key) return old;
    if (!block) return this.blank(line, key);
    const parts = partsOf(block.line(line), this.info.gaps, this.decoder);
    const { elements, style } = rowsOf({
      line, parts, style: this.styles.get(line - 1), query: this.search.query, marked: line === this.marked, here: line === this.search.here,
    });
    this.styles.set(line, style);
    if (this.styles.size > 2000) this.styles.delete(this.styles.keys().next().value);
    elements.key = key;
    return elements;
  }

  styles = new Map(); // how each line shown lately ended: a colour may last over many lines

  key(line, block) {
    const held = block?.line(line), marks = `${line === this.marked} ${line === this.search.here} ${this.search.query}`;
    return held ? `${held.to - held.from} ${held.pieces.length} ${marks}` : "";
  }

  blank(line, key) {
    this.load(Math.floor(line / BLOCK));
    const { elements } = rowsOf({ line, parts: [], query: "" });
    elements.key = key;
    return elements;
  }

  holder(line) {
    if (this.tail?.has(line)) return this.tail;
    const number = Math.floor(line / BLOCK), block = this.blocks.get(number);
    if (!block?.has(line)) return null;
    this.blocks.delete(number); // the last one used is the last to go
    this.blocks.set(number, block);
    return block;
  }

  async load(number) {
    if (this.loading.has(number)) return;
    this.loading.add(number);
    try {
      const { first, offsets } = await this.source.lines(number * BLOCK, BLOCK);
      this.keep(number, new Block(first, offsets, await this.fetch(offsets)));
      this.view.draw();
    } catch {
      await new Promise((done) => setTimeout(done, 1000)); // asked for again when it is drawn again
      this.view.draw();
    } finally {
      this.loading.delete(number);
    }
  }

  /** The bytes of a block: one range, but of long lines head and end only. */
  async fetch(offsets) {
    const ranges = [];
    for (let i = 0; i + 1 < offsets.length; i++) {
      const from = offsets[i], to = offsets[i + 1], last = ranges[ranges.length - 1];
      const wanted = to - from > LONG ? [[from, from + KEEP], [to - KEEP, to]] : [[from, to]];
      if (last && last[1] === wanted[0][0]) last[1] = wanted.shift()[1];
      ranges.push(...wanted);
    }
    return (await Promise.all(ranges.map(([from, to]) => this.source.bytes(from, to, this.info.gaps)))).flat();
  }

  keep(number, block) {
    this.blocks.set(number, block);
    let held = [...this.blocks.values()].reduce((sum, one) => sum + one.size, 0);
    for (const [key, one] of this.blocks) {
      if (key === number || (this.blocks.size <= BLOCKS && held <= BLOCK_BYTES)) break;
      this.blocks.delete(key);
      held -= one.size;
    }
  }

  /* ---- what people do ---- */

  wire() {
    this.at("follow")?.addEventListener("click", () => this.view.follow(!this.view.following));
    this.at("wrap")?.addEventListener("click", () => this.wrap());
    this.root.querySelector(".log-new")?.addEventListener("click", (event) => { event.preventDefault(); this.view.follow(true); });
    this.at("log").addEventListener("click", (event) => this.picked(event));
    addEventListener("hashchange", () => this.toHash());
    document.addEventListener("visibilitychange", () => this.seen());
  }

  wrap() {
    const on = this.at("log").classList.toggle("wrap");
    this.at("wrap").setAttribute("aria-pressed", on);
    this.view.forget();
  }

  picked(event) {
    const link = event.target.closest("li > a");
    if (!link) return;
    event.preventDefault();
    history.replaceState(null, "", link.hash);
    this.mark(Number(link.hash.slice(2)) - 1);
  }

  mark(line) {
    this.marked = line;
    this.view.draw();
  }

  toHash() {
    const line = /^#L(\d{1,15})$/.exec(location.hash);
    if (!line) return;
    this.mark(Math.max(0, Math.min(Number(line[1]), this.total()) - 1));
    this.view.go(this.marked);
    this.followed(false);
  }

  /** A page that nobody sees asks for nothing; seen again it goes on, from the end if much was missed. */
  seen() {
    if (document.hidden) { this.source.pause(); return; }
    if (this.view.following) { this.tail = null; this.info && this.start(); }
    else if (this.tail) this.source.follow(this.tail.end);
  }

  followed(on) {
    this.pausedAt = on ? null : this.total();
    this.at("follow")?.setAttribute("aria-pressed", on);
    this.news();
  }

  /* ---- what it says of itself ---- */

  news() {
    const place = this.root.querySelector(".log-new"), fresh = this.pausedAt === null ? 0 : this.total() - this.pausedAt;
    if (!place) return;
    place.hidden = this.view.following || (this.info?.complete && !fresh);
    const words = fresh > 0 ? `Paused, ${count(fresh)} new line${fresh === 1 ? "" : "s"}. Follow again` : "Paused. Follow again";
    place.querySelector("[data-part=words]").textContent = words;
  }

  speed(end) {
    const now = performance.now();
    this.pace ??= { at: now, end, rate: 0 };
    if (now - this.pace.at > 1000) this.pace = { at: now, end, rate: (end - this.pace.end) / (now - this.pace.at) * 1000 };
  }

  foot() {
    this.none.hidden = this.total() > 0;
    const place = this.at("foot"), { complete, sha256, gaps } = this.info;
    if (!place) return;
    const bytes = Math.max(this.info.size, this.tail?.end ?? 0), lost = gaps.reduce((sum, [from, to]) => sum + to - from, 0);
    const tone = standing(this.info, lost);
    place.replaceChildren(
      make("span", { className: `toned tone-${tone[0]} strong` }, icon(tone[1]), ` ${tone[2]}`),
      make("span", { textContent: `${count(bytes)} bytes, ${count(this.total())} line${this.total() === 1 ? "" : "s"}` }),
      ...(lost ? [make("span", { className: "toned tone-look" }, icon("alert-triangle"), ` ${gaps.length} gap${gaps.length === 1 ? "" : "s"}, ${count(lost)} bytes missing`)] : []),
      ...(!complete && !this.info.ended && this.pace?.rate ? [make("span", { textContent: `${size(Math.round(this.pace.rate))}/s` })] : []),
      ...(complete && sha256 ? [make("span", { className: "hash", textContent: `sha256 ${sha256}` })] : []),
    );
  }
}

/** Tone, icon and word of a log: it grows, is complete, lacks known bytes, or is not what the node had. */
function standing({ complete, ended, unsure }, lost) {
  if (complete && !lost) return ["pass", "shield-check", "Complete"];
  if (complete || (ended && lost)) return ["look", "alert-triangle", "Ended, with gaps"];
  if (unsure) return ["look", "alert-triangle", "Ended; the node was gone before it said whether this is all"];
  if (ended) return ["look", "alert-triangle", "Ended; not all that the node wrote is here"];
  return ["work", "activity", "Growing"];
}

whenAdded("section.viewer[data-log]", (root) => new Viewer(root));
