/* The page's socket: htmx's ws extension does the swapping, this module keeps it alive and says when it is not.
   One idea: after each reconnect the server sends what this page lacks, so a break repairs itself and needs no reload. */
import { icon, make } from "./dom.js";

const CALM = 1500; // ms: a shorter break is not worth a word
const RETRIED_BY_HTMX = [1006, 1011, 1012, 1013];
const REFUSED = [4401, 4403, 4404];

let lost = null; // timer until the note shows
let tries = 0;

function pause(attempt) { // 0.25 s and twice as long each time, at most 15 s, with some chance so that not all come at once
  return Math.min(15000, 250 * 2 ** Math.min(attempt, 6)) * (0.75 + Math.random() / 2);
}

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

function showRefused() {
  place().replaceChildren(note("look", "lock", "No longer connected.", "You may have been signed out.", "Load the page again"));
}

function opened() {
  clearTimeout(lost);
  lost = null;
  tries = 0;
  place().replaceChildren();
}

function closed(event) {
  const { event: close, socketWrapper: socket } = event.detail;
  tries += 1;
  if (REFUSED.includes(close.code)) return showRefused();
  lost ??= setTimeout(showLost, CALM);
  if (tries > 6) showLost();
  if (!RETRIED_BY_HTMX.includes(close.code)) setTimeout(() => event.target.isConnected && socket.reconnect(), pause(tries));
}

if (window.htmx) window.htmx.config.wsReconnectDelay = pause;
document.addEventListener("htmx:wsOpen", opened);
document.addEventListener("htmx:wsClose", closed);
addEventListener("pagehide", () => clearTimeout(lost));
