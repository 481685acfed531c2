/* A websocket that comes back: after a break with growing pauses, after a silence too (a portal that lives says something
   at least every 20 s). Who uses it says where to connect each time, so that it can go on where it stopped. */

/** Codes after which nobody tries again: signed out, not one's own, not there. */
export const GONE = 4404;
export const REFUSED = [4401, 4403, GONE];
export const SILENT = 50000; // ms: a portal that lives says something every 20 s

/** Milliseconds before try number `tries`: 0.25 s, twice as long each time, at most 15 s; some chance, so that not all come at once. */
export function pause(tries) {
  return Math.min(15000, 250 * 2 ** Math.min(tries, 6)) * (0.75 + Math.random() / 2);
}

/** The address of a socket of this portal; a path with its query. */
export function addressOf(path) {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}

export class Socket {
  /** `address()`: path and query. `on`: message(data), link("connecting" | "open" | "lost" | "refused"). */
  constructor(address, on) {
    this.address = address;
    this.on = on;
    this.tries = 0;
    this.watch = setInterval(() => this.listen(), 10000);
    this.open();
  }

  open() {
    this.on.link("connecting");
    this.heard = Date.now();
    const socket = new WebSocket(addressOf(this.address()));
    socket.binaryType = "arraybuffer";
    socket.onmessage = (event) => { this.heard = Date.now(); this.tries = 0; this.on.message(event.data); };
    socket.onopen = () => this.on.link("open");
    socket.onclose = (event) => { if (socket === this.socket) this.lost(event.code); };
    this.socket = socket;
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() {
    clearInterval(this.watch);
    this.closed = true;
    this.socket?.close();
  }

  listen() {
    if (Date.now() - this.heard > SILENT && this.socket?.readyState === WebSocket.OPEN) {
      const silent = this.socket;
      this.socket = null; // its end is no news
      silent.close();
      this.lost(0);
    }
  }

  lost(code) {
    if (this.closed) return;
    if (REFUSED.includes(code)) { this.on.link("refused"); return; }
    this.on.link("lost");
    setTimeout(() => this.closed || this.open(), pause(this.tries++));
  }
}
