/* The form of a new job: the template of a software goes into the command, as long as nobody has written one; a second click
   on Submit does nothing (the form's hidden key is the guard, this is only for the eye). */
import { whenAdded } from "./dom.js";

whenAdded("select[data-template]", (select) => {
  const command = document.querySelector(select.dataset.template);
  let last = select.selectedOptions[0]?.dataset.command ?? "";
  select.addEventListener("change", () => {
    const next = select.selectedOptions[0]?.dataset.command ?? "";
    if (command.value.trim() === "" || command.value.trim() === last.trim()) {
      command.value = next;
      command.dispatchEvent(new Event("input", { bubbles: true }));
    }
    last = next;
  });
});

whenAdded("form[data-once]", (form) => { // a second click while the first is under way does nothing; the hidden key is the guard
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent && !event.defaultPrevented) event.preventDefault();
    else if (!event.defaultPrevented && event.submitter?.value === "submit") form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => delete form.dataset.sent);
});
