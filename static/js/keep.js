/* What was typed in a form with data-keep outlives its page: a session that ended, a tab closed over a link, a page too old
   to be sent. It is kept in this tab alone, under the value of data-keep, and offered when the form is there again
   (data-kept: selector of the offer); it is forgotten once it was sent and another page answered. One idea: "bring it back" posts what
   was kept, so the server writes the form, with its files and messages, as after any other post. */
import { csrf, whenAdded } from "./dom.js";

const MARK = "kept:", WAIT = 300;
const NEVER = ["csrfmiddlewaretoken", "action", "upload", "pick"];

function read(name) {
  try { return JSON.parse(sessionStorage.getItem(name)); } catch { return null; }
}

function write(name, kept) {
  try { sessionStorage.setItem(name, JSON.stringify(kept)); } catch { /* no room, or switched off: nothing is kept */ }
}

function keep(form) {
  const name = MARK + form.dataset.keep, offer = document.querySelector(form.dataset.kept), before = read(name);
  let timer = 0;
  const save = (sent = false) => {
    clearTimeout(timer);
    timer = 0;
    const fields = [...new FormData(form)].filter(([field, value]) => typeof value === "string" && !NEVER.includes(field));
    write(name, { fields, sent, from: location.pathname });
  };
  const soon = (event) => {
    if (!event.isTrusted && event.target !== form.querySelector("#inputs")) return; // what a script filled in is no typing
    clearTimeout(timer);
    timer = setTimeout(() => save(), WAIT);
  };
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  document.addEventListener("submit", (event) => { if (event.target === form && !event.defaultPrevented) save(true); });
  addEventListener("pagehide", () => { if (timer) save(); });
  if ("bound" in form.dataset) save(); // an answer that shows what was typed
  else if (before && offer) propose(form, offer, name, before);
}

function propose(form, offer, name, kept) {
  const title = kept.fields.find(([field]) => field === "name")?.[1];
  if (title) offer.querySelector("[data-kept-name]").textContent = `\u201c${title}\u201d`;
  offer.hidden = false;
  offer.querySelector("[data-kept-back]").addEventListener("click", () => back(form, kept));
  offer.querySelector("[data-kept-drop]").addEventListener("click", () => { sessionStorage.removeItem(name); offer.remove(); });
}

function back(form, kept) {
  const post = Object.assign(document.createElement("form"), { method: "post", action: form.getAttribute("action"), hidden: true });
  for (const [name, value] of [...kept.fields, ["csrfmiddlewaretoken", csrf()], ["action", "add"]]) {
    const field = document.createElement(value.includes("\n") ? "textarea" : "input");
    post.append(Object.assign(field, { name, value }));
  }
  document.body.append(post);
  post.submit();
}

function forget() {
  if (document.body.classList.contains("bare")) return; // the sign-in, or a page that says it was not sent
  for (const name of Object.keys(sessionStorage).filter((one) => one.startsWith(MARK))) {
    const kept = read(name);
    if (!kept || kept.sent && kept.from !== location.pathname) sessionStorage.removeItem(name);
  }
}

forget();
whenAdded("form[data-keep]", keep);
