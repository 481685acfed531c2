/* Inputs of a new job: once a file has arrived (js/upload.js), its row becomes the one that the server writes, with a field
   for its name in the job folder and, for archives, a switch to unpack it. And the template of a software goes into the
   command, as long as nobody has written one. */
import { whenAdded } from "./dom.js";

async function replace(row, root) {
  const id = row.querySelector(`input[type=hidden][name=${root.dataset.name}]`)?.value;
  if (!id || row.dataset.asked) return;
  row.dataset.asked = "yes";
  const answer = await fetch(`${root.dataset.row}?upload=${encodeURIComponent(id)}`, { headers: { "HX-Request": "true" } });
  if (!answer.ok || !row.isConnected) return; // the row with its hidden input does as well
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("li");
  if (!fresh) return;
  document.getElementById(fresh.id)?.remove();
  row.replaceWith(fresh);
  root.closest("form").dispatchEvent(new Event("change", { bubbles: true })); // the review counts it
}

whenAdded("[data-upload][data-row]", (root) => {
  root.addEventListener("headrace:files", () => {
    for (const row of root.querySelectorAll("li[data-state=done]:not([data-input])")) replace(row, root).catch(() => {});
  });
});

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
