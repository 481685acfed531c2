/* A terminal (xterm.js) for desk.js. The node keeps the screen and sends it again to whoever connects, so a reload or a
   break loses nothing. xterm.js and its fit addon are loaded by the page before. */

const encoder = new TextEncoder();
const QUIET = 80; // ms without another change of size before it is told

/** xterm.js writes its colours into <style> elements, which the policy of these pages refuses; here they become sheets. */
function withSheets(open) {
  const create = document.createElement;
  document.createElement = function (name, ...more) {
    const element = create.call(this, name === "style" ? "template" : name, ...more);
    if (name === "style") {
      const sheet = new CSSStyleSheet();
      document.adoptedStyleSheets.push(sheet);
      Object.defineProperty(element, "textContent", { set: (text) => sheet.replaceSync(text), get: () => "" });
      element.remove = () => { document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet); };
    }
    return element;
  };
  try { open(); } finally { delete document.createElement; }
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const dark = document.documentElement.dataset.bsTheme === "dark";
  return { background: dark ? "#0f151a" : "#12191e", foreground: "#e4eaee", cursor: "#9fd6de", selectionBackground: "#2b5c6a", fontFamily: style.getPropertyValue("--mono") };
}

export class Session {
  /** `acts`: may type; else only looks. `on`: open(), size(words), copied(text). */
  constructor(screen, socket, acts, on) {
    this.screen = screen;
    this.socket = socket;
    this.acts = acts;
    this.on = on;
    const { fontFamily, ...theme } = colours();
    const term = this.term = new window.Terminal({ fontFamily, fontSize: 14, theme, disableStdin: !acts, cursorBlink: acts, scrollback: 10000, allowProposedApi: false });
    this.fit = new window.FitAddon.FitAddon();
    term.loadAddon(this.fit);
    this.host = document.createElement("div");
    this.host.className = "desk-term";
    screen.append(this.host);
    withSheets(() => term.open(this.host));
    term.attachCustomKeyEventHandler((event) => this.key(event));
    if (acts) term.onData((text) => this.send(encoder.encode(text)));
    if (acts) term.onBinary((text) => this.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0))));
    this.watch = new ResizeObserver(() => { clearTimeout(this.later); this.later = setTimeout(() => this.sized(), QUIET); });
    this.watch.observe(this.host);
    socket.addEventListener("message", (event) => event.data instanceof ArrayBuffer && term.write(new Uint8Array(event.data)));
    if (socket.readyState === WebSocket.OPEN) this.opened();
    else socket.addEventListener("open", () => this.opened());
  }

  opened() {
    this.on.open();
    this.sized();
    if (this.acts) this.term.focus();
  }

  sized() {
    this.fit.fit();
    const { cols, rows } = this.term;
    this.on.size(`${cols} × ${rows}`);
    if (this.acts && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ resize: [cols, rows] }));
  }

  /** Ctrl+Shift+C copies what is marked; the browser's own paste (Ctrl+V, Ctrl+Shift+V) is let through. */
  key(event) {
    const letter = event.ctrlKey && event.type === "keydown" && event.key.toLowerCase();
    if (letter === "v") return false;
    if (letter === "c" && (event.shiftKey || this.term.hasSelection())) {
      event.preventDefault();
      this.on.copied(this.term.getSelection());
      this.term.clearSelection();
      return false;
    }
    return true;
  }

  send(bytes) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(bytes);
  }

  paste(text) { this.term.paste(text); }

  type(text) { this.send(encoder.encode(text.replaceAll("\r\n", "\n").replaceAll("\n", "\r"))); }

  press() {}

  hold() {}

  set() {}

  focus() { this.term.focus(); }

  end() {
    clearTimeout(this.later);
    this.watch.disconnect();
    this.term.dispose();
    this.host.remove();
  }
}
