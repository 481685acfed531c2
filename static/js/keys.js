/* Keys: an element with data-key="x" is focused (fields) or pressed (buttons, links) by that key, outside of fields.
   Escape closes the account menu. */

function isTyping(event) {
  return event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]");
}

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) {
    if (menu === except) continue;
    menu.open = false;
    if (!except) menu.querySelector("summary").focus();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus();
  if (isTyping(event) || document.querySelector("dialog[open]")) return;
  const found = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!found) return;
  event.preventDefault();
  if (found.matches("input, textarea, select")) found.focus();
  else found.click();
});
document.addEventListener("click", (event) => {
  const inside = event.target.closest("details[data-menu]");
  for (const menu of document.querySelectorAll("details[data-menu][open]")) if (menu !== inside) menu.open = false;
});
