/* Search in a log: the server finds, a hundred lines at a time; ":120" goes to a line. One idea: hits are asked for as far
   as the reader goes, so a search in 1 GB starts to show at once. */
import { count } from "./words.js";

export class Search {
  constructor(viewer) {
    this.viewer = viewer;
    this.query = "";
    this.clear();
    this.form = viewer.at("search");
    this.field = this.form?.querySelector("input");
    this.form?.addEventListener("submit", (event) => { event.preventDefault(); this.queue(() => this.run(1)); });
    this.field?.addEventListener("search", () => { if (!this.field.value) this.queue(() => this.run(1)); }); // its cross; Enter submits
    viewer.at("next")?.addEventListener("click", () => this.queue(() => this.step(1)));
    viewer.at("previous")?.addEventListener("click", () => this.queue(() => this.step(-1)));
  }

  clear() {
    this.hits = []; // lines
    this.more = false;
    this.after = -1;
    this.at = -1;
    this.here = -1;
  }

  /** One thing after the other: a second click waits until the first one's hits are there. */
  queue(act) {
    this.turn = (this.turn ?? Promise.resolve()).then(act, act);
  }

  async run(way) {
    const text = this.field.value.trim(), line = /^:\s*([\d,.\s]+)$/.exec(text);
    if (line) { location.hash = `L${line[1].replace(/\D/g, "")}`; this.viewer.toHash(); return; }
    if (text === this.query) { await this.step(way); return; }
    this.query = text;
    this.clear();
    this.viewer.view.forget();
    this.say(text ? "Searching" : "");
    if (text) await this.begin();
  }

  /** The first hit at or after the line on top. */
  async begin() {
    const top = Math.floor(this.viewer.view.following ? 0 : this.viewer.view.top);
    await this.until(() => this.hits.some((line) => line >= top));
    const first = this.hits.findIndex((line) => line >= top);
    this.show(first >= 0 ? first : 0);
  }

  async step(way) {
    if (!this.query) return;
    if (way > 0 && this.at + 1 >= this.hits.length) await this.until(() => this.hits.length > this.at + 1);
    this.show(this.at + way < this.hits.length ? this.at + way : 0);
  }

  /** Asks on until the condition holds, there is no more, or another search began. */
  async until(condition) {
    const query = this.query;
    do {
      const found = await this.viewer.source.search(query, this.after).catch(() => null);
      if (query !== this.query) return;
      if (!found) { this.say("Search failed, try again"); return; }
      this.hits.push(...found.hits.map(([line]) => line));
      this.more = found.more;
      this.after = found.last ?? this.hits[this.hits.length - 1] ?? this.after;
      this.say(this.more ? `Searching, line ${count(this.after + 1)}` : "");
    } while (this.more && !condition());
  }

  show(index) {
    if (!this.hits.length) { this.say("Not found"); return; }
    this.at = (index + this.hits.length) % this.hits.length;
    this.here = this.hits[this.at];
    this.say(`${count(this.at + 1)} of ${count(this.hits.length)}${this.more ? "+" : ""}`);
    this.viewer.view.go(this.here);
    this.viewer.followed(false);
  }

  say(words) {
    this.viewer.at("hits").textContent = words;
  }
}
