/* Where a log's bytes come from: ranges by HTTP, the growing end by a socket. One idea: both speak of byte offsets, so
   after a break the socket goes on exactly where it stopped, and nothing comes twice or not at all.

   Socket: info {size, lines, generation, complete, gaps, sha256} and frames (8 bytes offset, then bytes) come;
   follow {from}, ack {offset} and pause go. At most 1 MiB is on its way without an ack. */

import { Socket } from "./socket.js";

const ACK_EVERY = 256 << 10;

export class Source {
  /** `data`: url, socket, attempt, stream of the viewer's root. `on`: info(info), bytes(at, bytes), link(word). */
  constructor(data, on) {
    this.url = data.url;
    this.socketUrl = data.socket;
    this.of = { attempt: data.attempt, stream: data.stream };
    this.on = on;
    this.generation = null; // of the stream; ranges are asked for of this one
  }

  lines(line, count) {
    return this.json("lines", { line, count });
  }

  search(q, after) {
    return this.json("search", { q, after });
  }

  /** Kept bytes of a range: [{ at, bytes }]; stretches that are not kept are left out. */
  async bytes(from, to, gaps) {
    const pieces = [];
    for (let [start, end] of kept(from, to, gaps)) {
      while (start < end) {
        const answer = await this.get("bytes", { from: start, to: end });
        const bytes = new Uint8Array(await answer.arrayBuffer());
        if (!bytes.length) break;
        pieces.push({ at: start, bytes });
        start += bytes.length;
      }
    }
    return pieces;
  }

  address(what, more = {}) {
    const generation = this.generation === null ? {} : { generation: this.generation };
    return `${this.url}/${what}?${new URLSearchParams({ ...this.of, ...generation, ...more })}`;
  }

  async get(what, more) {
    const answer = await fetch(this.address(what, more));
    if (!answer.ok) throw new Error(`${what}: ${answer.status}`);
    return answer;
  }

  async json(what, more) {
    return (await this.get(what, more)).json();
  }

  connect() {
    this.socket = new Socket(() => `${this.socketUrl}?${new URLSearchParams(this.of)}`, {
      message: (data) => this.take(data), link: (word) => this.on.link(word),
    });
  }

  follow(from) {
    this.acked = from;
    this.send({ type: "follow", from });
  }

  pause() {
    this.send({ type: "pause" });
  }

  close() {
    this.socket?.close();
  }

  send(message) {
    this.socket?.send(message);
  }

  take(data) {
    if (typeof data === "string") {
      this.on.info(JSON.parse(data));
      return;
    }
    const at = Number(new DataView(data).getBigUint64(0)), bytes = new Uint8Array(data, 8);
    this.on.bytes(at, bytes);
    this.ack(at + bytes.length);
  }

  ack(offset) {
    this.got = offset;
    if (offset - this.acked >= ACK_EVERY) this.sendAck();
    else this.acking ??= setTimeout(() => this.sendAck(), 100);
  }

  sendAck() {
    clearTimeout(this.acking);
    this.acking = null;
    this.acked = this.got;
    this.send({ type: "ack", offset: this.got });
  }
}

function kept(from, to, gaps) {
  const found = [];
  for (const [start, end] of gaps) {
    if (from < Math.min(start, to)) found.push([from, Math.min(start, to)]);
    from = Math.max(from, end);
  }
  if (from < to) found.push([from, to]);
  return found;
}
