/* Forms: data-once is sent once however often it is clicked; a select with data-template="#field" writes the template of
   what was chosen (data-command of the option) into the field, unless it holds something that was typed. */
import { whenAdded } from "./dom.js";

let sent = new WeakSet();

/** Heard at the document: what listens at the form itself, such as uploads that are under way, may have refused before. */
function once(event) {
  if (event.defaultPrevented || !event.target.matches("form[data-once]")) return;
  if (sent.has(event.target)) event.preventDefault();
  sent.add(event.target);
}

function template(select) {
  const field = document.querySelector(select.dataset.template);
  let written = select.selectedOptions[0]?.dataset.command ?? "";
  select.addEventListener("change", () => {
    const fresh = select.selectedOptions[0]?.dataset.command ?? "";
    if (field.value.trim() && field.value.trim() !== written.trim()) return;
    written = field.value = fresh;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

document.addEventListener("submit", once);
addEventListener("pageshow", () => { sent = new WeakSet(); }); // back again
whenAdded("select[data-template]", template);
whenAdded("[data-no-script]", (hint) => { hint.hidden = true; });
