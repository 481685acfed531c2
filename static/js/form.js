/* Forms: data-once is sent once however often it is clicked; a select with data-template="#field" writes the template of
   what was chosen (data-command of the option) into the field, unless it holds something that was typed. */
import { whenAdded } from "./dom.js";

function once(form) {
  let sent = false;
  form.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    if (sent) { event.preventDefault(); return; }
    sent = true;
  });
  addEventListener("pageshow", () => { sent = false; }); // back again
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

whenAdded("form[data-once]", once);
whenAdded("select[data-template]", template);
whenAdded("[data-no-script]", (hint) => { hint.hidden = true; });
