/* A session in the page: connects, says how it stands, comes back by itself, and has a bar of tools.
   One idea: the veil inside (pushed by the portal) says whether there is anything to connect to; this module connects when
   it is so and lets go when it is not. What kind of session it is, desktop or terminal, is a module of its own with the
   same few verbs: paste, type, press, hold, set, focus, end.

   Root: [data-desk] with data-socket and data-mode ("input" or "look"); data-link is what the style goes by. */
import { whenAdded } from "./dom.js";
import { addressOf, pause, REFUSED } from "./socket.js";
import "./pictures.js";

const AGAIN = 4503; // nothing answers there just now
const WORDS = {
  none: ["", ""],
  connecting: ["Connecting", "work"],
  open: ["Connected", "pass"],
  lost: ["Connection lost, reconnecting", "look"],
  waits: ["It does not answer yet, trying again", "look"],
  refused: ["No longer connected: load the page again", "fail"],
};
const SHOWS = { desktop: () => import("./desk-desktop.js"), terminal: () => import("./desk-terminal.js") };

class Desk {
  constructor(root) {
    this.root = root;
    this.acts = root.dataset.mode === "input";
    this.wanted = this.acts; // who only looks says so first
    this.tries = 0;
    this.find = (name) => root.querySelector(`[data-${name}]`);
    this.screen = this.find("desk-screen");
    root.addEventListener("click", (event) => this.clicked(event));
    root.addEventListener("change", (event) => event.target.dataset.set && this.shown?.set(event.target.dataset.set, event.target.checked));
    for (const name of ["online", "visibilitychange"]) addEventListener(name, () => !document.hidden && this.soon(0), true);
    addEventListener("fullscreenchange", () => this.turned());
    addEventListener("pagehide", () => this.leave());
    new MutationObserver(() => this.look()).observe(root, { childList: true });
    this.look();
  }

  get clip() { return this.root.querySelector("[data-menu=clipboard]"); }

  get ready() { return Boolean(this.root.querySelector("[data-veil][data-ready]")); }

  /** The veil has changed, or it is the first look. */
  look() {
    const ask = this.find("desk-ask"), still = this.root.querySelector("[data-still]");
    if (ask) ask.hidden = this.wanted || !this.ready;
    if (still && this.ready && still.hidden) { still.src = still.dataset.still; still.onload = () => { still.hidden = false; }; }
    if (!this.ready) this.leave();
    else if (this.wanted && !this.socket && !this.timer && !this.turn && this.root.dataset.link !== "refused") this.connect();
  }

  say(link) {
    if (this.root.dataset.link === link && link !== "none") return;
    this.root.dataset.link = link;
    const [words, tone] = WORDS[link], place = this.find("desk-link");
    place.className = `live ${tone && `tone-${tone}`}`;
    place.textContent = words;
    this.find("desk-tools").hidden = link !== "open";
  }

  /** The module first: what a desktop says at once must find somebody who listens. */
  async connect() {
    this.say(this.tries ? this.root.dataset.link : "connecting");
    const turn = this.turn = {};
    const { Session } = await SHOWS[this.root.dataset.desk]();
    if (turn !== this.turn || this.socket || !this.ready) return;
    const socket = this.socket = new WebSocket(addressOf(this.root.dataset.socket));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("close", (event) => this.lost(socket, event.code));
    this.shown = new Session(this.screen, socket, this.acts, {
      open: () => { this.tries = 0; this.say("open"); },
      size: (words) => { const place = this.find("desk-size"); if (place) place.textContent = words; },
      copied: (text) => this.copied(text),
    });
  }

  lost(socket, code) {
    if (socket !== this.socket) return;
    this.drop();
    if (REFUSED.includes(code)) { this.say("refused"); return; }
    if (!this.ready) { this.say("none"); return; }
    this.say(code === AGAIN && ["connecting", "waits"].includes(this.root.dataset.link) ? "waits" : "lost");
    this.soon(pause(Math.min(this.tries++, 4)));
  }

  soon(delay) {
    if (this.socket || !this.wanted || !this.ready || ["none", "refused"].includes(this.root.dataset.link)) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.timer = null; this.connect(); }, delay);
  }

  drop() {
    this.shown?.end();
    this.shown = this.socket = this.turn = null;
    const size = this.find("desk-size");
    if (size) size.textContent = "";
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = this.turn = null;
    const socket = this.socket;
    this.drop();
    socket?.close();
    if (this.root.dataset.link !== "refused") this.say("none");
    this.tries = 0;
  }

  // --- tools ------------------------------------------------------------------------------------------------------------
  clicked(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const { do: act, keys, hold } = button.dataset;
    if (keys) this.shown?.press(keys.split(" "));
    if (hold) this.hold(button, button.getAttribute("aria-pressed") !== "true");
    if (act) this.act(act);
  }

  act(name) {
    const field = this.clip?.querySelector("textarea");
    if (name === "connect") { this.wanted = true; this.look(); }
    if (name === "full") this.full();
    if (name === "clip-send") this.shown?.paste(field.value);
    if (name === "clip-type") this.shown?.type(field.value);
    if (name === "clip-mine") this.mine(field);
    if (name === "clip-send" || name === "clip-type") { this.clip.open = false; this.shown?.focus(); }
  }

  hold(button, down) {
    button.setAttribute("aria-pressed", String(down));
    this.shown?.hold(button.dataset.hold, down);
  }

  full() {
    if (document.fullscreenElement === this.root) document.exitFullscreen();
    else this.root.requestFullscreen?.().then(() => navigator.keyboard?.lock?.().catch(() => {})).catch(() => {});
  }

  turned() {
    const button = this.root.querySelector("[data-do='full']");
    const full = document.fullscreenElement === this.root;
    const words = full ? "Leave full screen" : "Full screen";
    button.setAttribute("aria-label", words);
    button.lastElementChild.textContent = words;
    if (full) this.shown?.focus();
  }

  async mine(field) {
    try {
      field.value = await navigator.clipboard.readText();
      this.shown?.paste(field.value);
      this.told("What you copied is there now.");
    } catch {
      this.told("The browser does not let this page read what you copied; paste it here instead.");
    }
  }

  /** Something was copied there. */
  copied(text) {
    const field = this.clip?.querySelector("textarea");
    if (field) field.value = text;
    navigator.clipboard?.writeText(text).then(() => this.told("Copied there, and here too."), () => this.told("Copied there; take it from here."));
  }

  told(words) {
    const place = this.find("clip-says");
    if (place) place.textContent = words;
  }
}

whenAdded("[data-desk][data-socket]", (root) => new Desk(root));
