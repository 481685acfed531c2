/* Theme: light or dark. The only script that is loaded before the first paint (in the head, no module), so that a dark
   page never flashes white. ?theme=dark sets it for one page; the choice is kept in the browser. */
(function () {
  "use strict";
  const root = document.documentElement;

  function kept() {
    try { return localStorage.getItem("theme"); } catch { return null; } // private mode: follow the system
  }
  function keep(theme) {
    try { localStorage.setItem("theme", theme); } catch { /* not kept */ }
  }
  function system() {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  function set(theme) {
    root.dataset.bsTheme = theme;
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.setAttribute("aria-label", theme === "dark" ? "Switch to light theme" : "Switch to dark theme");
    }
    document.dispatchEvent(new CustomEvent("headrace:theme"));
  }

  set(new URLSearchParams(location.search).get("theme") || kept() || system());
  document.addEventListener("DOMContentLoaded", () => set(root.dataset.bsTheme));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-switch]")) return;
    const theme = root.dataset.bsTheme === "dark" ? "light" : "dark";
    keep(theme);
    set(theme);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (!kept()) set(system()); });
})();
