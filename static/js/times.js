/* Keeps times fresh: <time data-when> says how long ago, <time data-since="unix seconds"> counts on.
   One idea: the portal's clock counts, not the viewer's; what the server wrote tells how far the two are apart. */
import { whenAdded } from "./dom.js";
import { clock, relative } from "./words.js";

let ahead = 0; // seconds by which the viewer's clock is ahead of the portal's
let least = Infinity;

function read(digits) { // "1 d 02:03:04", "5:41:10" and "0:41" to seconds
  const [days, rest] = digits.includes(" d ") ? digits.split(" d ") : [0, digits];
  return Number(days) * 86400 + rest.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
}

function now() {
  return Date.now() / 1000 - ahead;
}

function say(element, text) {
  if (text !== null && element.textContent !== text) element.textContent = text;
}

function tick(element) {
  if (element.dataset.since) say(element, clock(now() - Number(element.dataset.since)));
  else say(element, relative(now() - Date.parse(element.dateTime) / 1000));
}

whenAdded("time[data-since]", (element) => {
  const skew = Date.now() / 1000 - Number(element.dataset.since) - read(element.textContent);
  least = Math.min(least, skew); // the way here only adds to it, so the least seen is nearest to the truth
  ahead = Math.abs(least) < 2 ? 0 : least;
});

setInterval(() => {
  if (!document.hidden) document.querySelectorAll("time[data-since], time[data-when]").forEach(tick);
}, 1000);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) document.querySelectorAll("time[data-since], time[data-when]").forEach(tick);
});
