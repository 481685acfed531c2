/* A desktop by RFB (noVNC) for desk.js. What the viewer's keyboard writes is sent as keysyms, so any layout works. */
import RFB from "../npm/@novnc/novnc/core/rfb.js";
import keysyms from "../npm/@novnc/novnc/core/input/keysymdef.js";

const NARROW = 700; // pixels: a desktop of a phone's size is of no use, so there it is only shown smaller
const SYMBOLS = {
  Control_L: [0xffe3, "ControlLeft"], Alt_L: [0xffe9, "AltLeft"], Super_L: [0xffeb, "MetaLeft"], Delete: [0xffff, "Delete"],
  Escape: [0xff1b, "Escape"], Tab: [0xff09, "Tab"], F4: [0xffc1, "F4"], F11: [0xffc8, "F11"], Print: [0xff61, "PrintScreen"],
  w: [0x77, "KeyW"], t: [0x74, "KeyT"], Return: [0xff0d, "Enter"],
};
const HELD = { Control: "Control_L", Alt: "Alt_L", Super: "Super_L" };

export class Session {
  /** `acts`: may type; else only looks. `on`: open(), size(words), copied(text). */
  constructor(screen, socket, acts, on) {
    this.screen = screen;
    this.acts = acts;
    this.on = on;
    const rfb = this.rfb = new RFB(screen, socket, { shared: true });
    rfb.viewOnly = !acts;
    rfb.scaleViewport = true;
    rfb.background = "transparent";
    this.resize = true;
    this.fit = () => { rfb.resizeSession = this.acts && this.resize && screen.clientWidth >= NARROW; };
    this.fit();
    rfb.addEventListener("connect", () => { on.open(); this.measure(); if (acts) rfb.focus({ preventScroll: true }); });
    rfb.addEventListener("clipboard", (event) => on.copied(event.detail.text));
    this.watch = new MutationObserver(() => this.measure());
    this.watch.observe(screen, { subtree: true, childList: true, attributes: true, attributeFilter: ["width", "height"] });
    this.brings = () => this.bring();
    if (acts) screen.addEventListener("focusin", this.brings);
  }

  /** What was copied here goes there, where the browser lets a page look without asking. */
  async bring() {
    try {
      const asked = await navigator.permissions.query({ name: "clipboard-read" });
      const text = asked.state === "granted" && await navigator.clipboard.readText();
      if (text && text !== this.brought) this.paste(this.brought = text);
    } catch { /* a browser without that permission: the Clipboard menu is there */ }
  }

  measure() {
    const canvas = this.screen.querySelector("canvas");
    if (!canvas) return;
    const fits = this.rfb.resizeSession ? "takes the size of the window" : "shown to fit";
    this.on.size(`${canvas.width} × ${canvas.height}, ${fits}`);
  }

  paste(text) { this.rfb.clipboardPasteFrom(text); }

  type(text) {
    for (const letter of text.replaceAll("\r\n", "\n")) {
      const symbol = letter === "\n" ? 0xff0d : letter === "\t" ? 0xff09 : keysyms.lookup(letter.codePointAt(0));
      this.rfb.sendKey(symbol, null);
    }
  }

  press(names) {
    const keys = names.map((name) => SYMBOLS[name]);
    for (const [symbol, code] of keys) this.rfb.sendKey(symbol, code, true);
    for (const [symbol, code] of keys.reverse()) this.rfb.sendKey(symbol, code, false);
    this.focus();
  }

  hold(name, down) {
    const [symbol, code] = SYMBOLS[HELD[name]];
    this.rfb.sendKey(symbol, code, down);
    this.focus();
  }

  set(name, on) {
    if (name === "resize") { this.resize = on; this.fit(); this.measure(); }
    if (name === "crisp") this.rfb.qualityLevel = on ? 9 : 6;
  }

  focus() { this.rfb.focus({ preventScroll: true }); }

  end() {
    this.watch.disconnect();
    this.screen.removeEventListener("focusin", this.brings);
    try { this.rfb.disconnect(); } catch { /* it has ended already */ }
    for (const left of this.screen.querySelectorAll(":scope > div")) left.remove();
  }
}
