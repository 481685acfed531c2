/* The page's socket: htmx's ws extension does the swapping, this module keeps it alive and says when it is not.
   One idea: after each reconnect the server sends what this page lacks, so a break repairs itself and needs no reload. */
import { icon, make } from "./dom.js";
import { GONE, pause, REFUSED, SILENT } from "./socket.js";

const CALM = 1500; // ms: a shorter break is not worth a word
const RETRIED_BY_HTMX = [1006, 1011, 1012, 1013];

let lost = null; // timer until the note shows
let heard = Date.now();
let open = null; // the socket
let tries = 0;

function note(tone, name, title, text, link) {
  const words = make("div", {}, make("strong", { textContent: title }), ` ${text} `);
  if (link) words.append(make("a", { href: location.href, textContent: link }));
  return make("div", { className: `note tone-${tone}` }, icon(name), words);
}

function place() {
  return document.getElementById("connection");
}

function showLost() {
  const link = tries > 6 ? "Load the page again" : "";
  place().replaceChildren(note("look", "plug-connected-x", "Connection lost.", "Reconnecting; what you see may be out of date.", link));
}

function showRefused(code) {
  const [title, text] = code === GONE ? ["No longer here.", "It was deleted, or you may not see it any more."] : ["No longer connected.", "You may have been signed out."];
  place().replaceChildren(note("look", "lock", title, text, "Load the page again"));
}

function opened(event) {
  open = event.detail.socketWrapper;
  heard = Date.now();
  clearTimeout(lost);
  lost = null;
  tries = 0;
  place().replaceChildren();
}

function listen() {
  if (!open || Date.now() - heard < SILENT) return;
  heard = Date.now();
  open.reconnect();
}

function closed(event) {
  open = null;
  const { event: close, socketWrapper: socket } = event.detail;
  tries += 1;
  if (REFUSED.includes(close.code)) return showRefused(close.code);
  lost ??= setTimeout(showLost, CALM);
  if (tries > 6) showLost();
  if (!RETRIED_BY_HTMX.includes(close.code)) setTimeout(() => event.target.isConnected && socket.reconnect(), pause(tries));
}

if (window.htmx) window.htmx.config.wsReconnectDelay = pause;
document.addEventListener("htmx:wsOpen", opened);
document.addEventListener("htmx:wsClose", closed);
document.addEventListener("htmx:wsBeforeMessage", () => { heard = Date.now(); });
setInterval(listen, 10000);
addEventListener("pagehide", () => clearTimeout(lost));
