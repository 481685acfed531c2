/* Questions before something goes. A link with data-dialog leads to a page that asks; with JavaScript its form
   (templates/_dialog.html) is fetched at that moment, so that what it says would be lost is fresh, and shown in the
   dialog of the page. Without JavaScript the link is a link. */

function dialog() {
  return document.getElementById("dialog");
}

async function ask(link) {
  const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
  if (!answer.ok || answer.redirected) return location.assign(link.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const form = page.querySelector("form.ask-in");
  if (!form) return location.assign(link.href);
  dialog().replaceChildren(form);
  window.htmx?.process(form);
  dialog().showModal();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-dialog]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    ask(link).catch(() => location.assign(link.href));
  }
  const close = event.target.closest("[data-close]");
  if (close?.closest("dialog")) {
    event.preventDefault();
    dialog().close();
  }
  if (event.target === dialog()) dialog().close(); // outside of the form
});
document.addEventListener("submit", (event) => {
  if (!event.target.closest("dialog")) return;
  for (const button of event.target.querySelectorAll("button")) queueMicrotask(() => { button.disabled = true; });
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.target.closest("dialog") && event.detail.successful) dialog().close();
});
