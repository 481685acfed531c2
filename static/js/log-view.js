/* A list of any number of lines in a scrolling box, of which only those in sight exist. One idea: the truth is the line at
   the top of the box (`top`, with its fraction); the scroll bar only follows. A browser's box can be some million pixels
   high, a log of 1 GB would be 300 million: then a page of scrolling still moves by a page, and the thumb by its share.

   The source of lines gives `total()` and `rows(line)`: the elements of a line, [] while it is being fetched. */
import { make } from "./dom.js";

const LINE = 19; // px, as in css/log.css
const MOST = 8000000; // px: what every browser can do
const MORE = 12; // lines drawn beyond what is in sight

export class View {
  constructor(box, source) {
    this.box = box;
    this.source = source;
    this.list = make("ol");
    this.space = make("div", { className: "log-space" }, this.list);
    this.top = 0;
    this.following = true;
    this.drawn = new Map(); // line: its elements
    this.scrolled = 0;
    this.average = LINE;
    box.prepend(this.space);
    box.addEventListener("scroll", () => this.moved(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  /** Draws with the next frame; many calls are one. */
  draw() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.drawNow(); });
  }

  /** Shows a line, a third down the box. */
  go(line) {
    this.following = false;
    this.top = Math.max(0, Math.min(line - this.page() / 3, this.lowest()));
    this.sync();
    this.draw();
  }

  follow(on) {
    this.following = on;
    if (!on) this.top = this.lowest();
    this.draw();
    this.source.followed(on);
  }

  /** Throws away what is drawn: another look (wrapped, searched) or other bytes. */
  forget() {
    this.drawn.clear();
    this.average = LINE;
    this.draw();
  }

  page() {
    return this.box.clientHeight / this.average;
  }

  lowest() { // the line at the top when the last one is at the bottom
    return Math.max(0, this.source.total() - this.page());
  }

  height() {
    return Math.min(MOST, Math.ceil(this.source.total() * this.average));
  }

  drawNow() {
    const total = this.source.total(), page = Math.ceil(this.page());
    const first = Math.max(0, Math.floor(this.following ? total - page : this.top) - MORE);
    const last = Math.min(total, (this.following ? total : Math.floor(this.top) + page) + MORE);
    this.fill(first, last);
    this.space.style.height = `${this.height()}px`;
    this.place(total);
    this.measure();
  }

  fill(first, last) {
    const drawn = new Map();
    for (let line = first; line < last; line++) drawn.set(line, this.source.rows(line, this.drawn.get(line)));
    const wanted = [...drawn.values()].flat(), there = this.list.children;
    this.drawn = drawn;
    if (wanted.length === there.length && wanted.every((row, i) => row === there[i])) return;
    const keep = new Set(wanted);
    for (const row of [...there]) if (!keep.has(row)) row.remove();
    wanted.forEach((row, i) => { if (there[i] !== row) this.list.insertBefore(row, there[i] ?? null); });
  }

  place(total) {
    const room = Math.max(this.height(), this.box.clientHeight - 16);
    if (this.following) {
      this.scrollTo(this.box.scrollHeight);
      const fits = this.list.offsetHeight <= this.box.clientHeight - 16 && total <= this.drawn.size;
      this.move(fits ? 0 : Math.max(this.height(), this.list.offsetHeight) - this.list.offsetHeight);
      if (!fits && this.list.offsetHeight > room) this.space.style.height = `${this.list.offsetHeight}px`;
      this.scrollTo(this.box.scrollHeight);
      return;
    }
    const line = Math.floor(this.top), row = this.drawn.get(line)?.[0];
    const above = row ? row.offsetTop + (this.top - line) * this.heightOf(line) : 0;
    this.move(this.box.scrollTop - above);
  }

  move(y) {
    this.list.style.transform = `translateY(${Math.round(y)}px)`;
  }

  heightOf(line) {
    const rows = this.drawn.get(line);
    if (!rows?.length) return this.average;
    const last = rows[rows.length - 1];
    return last.offsetTop + last.offsetHeight - rows[0].offsetTop || this.average;
  }

  measure() { // wrapped lines are higher than one
    if (!this.drawn.size) return;
    const mean = Math.max(LINE, this.list.offsetHeight / this.drawn.size);
    if (this.box.classList.contains("wrap") && Math.abs(mean - this.average) > this.average / 4) this.average = (mean + this.average) / 2;
    this.widest = Math.max(this.widest ?? 0, this.list.scrollWidth);
  }

  scrollTo(y) {
    this.box.scrollTop = y;
    this.scrolled = this.box.scrollTop; // as far as it really went: no event of a person
  }

  moved() {
    const y = this.box.scrollTop, by = y - this.scrolled;
    if (Math.abs(by) < 1) return;
    this.scrolled = y;
    const end = this.box.scrollHeight - this.box.clientHeight;
    if (by > 0 && y >= end - LINE) { this.follow(true); return; } // as near as a browser gets in millions of pixels
    const was = this.following;
    if (was) this.top = this.lowest();
    this.following = false;
    this.top = y <= 0 ? 0 : this.moveBy(by, y / Math.max(1, end));
    if (was) this.source.followed(false);
    this.draw();
    clearTimeout(this.syncing);
    this.syncing = setTimeout(() => this.sync(), 250);
  }

  moveBy(by, part) {
    if (this.height() < MOST && this.average === LINE) return Math.min(this.lowest(), this.box.scrollTop / LINE);
    if (Math.abs(by) > 3 * this.box.clientHeight) return part * this.lowest();
    return Math.max(0, Math.min(this.lowest(), this.top + by / this.average));
  }

  /** Puts the thumb where the top line says it belongs; what is in sight stays where it is. */
  sync() {
    if (this.following) return;
    const end = this.box.scrollHeight - this.box.clientHeight;
    const y = this.height() < MOST && this.average === LINE ? this.top * LINE : end * this.top / Math.max(1, this.lowest());
    if (Math.abs(y - this.box.scrollTop) < 2) return;
    this.scrollTo(Math.min(y, end - 2));
    this.draw();
  }
}
