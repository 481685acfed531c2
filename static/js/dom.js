/* Small things around the document. The one idea: htmx and the socket replace fragments at any time, so nothing is wired
   once; `whenAdded` runs for what is there now and for whatever comes. */

/** Runs `start(element)` for each element that matches, now and whenever one is added. */
export function whenAdded(selector, start) {
  const seen = new WeakSet();
  const look = (root) => {
    const found = root.matches?.(selector) ? [root, ...root.querySelectorAll(selector)] : root.querySelectorAll(selector);
    for (const element of found) {
      if (!seen.has(element)) { seen.add(element); start(element); }
    }
  };
  look(document);
  new MutationObserver((records) => {
    for (const record of records) {
      for (const node of record.addedNodes) if (node.nodeType === 1) look(node);
    }
  }).observe(document.body, { childList: true, subtree: true });
}

/** An element with properties and children; text is never read as markup. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** An icon of the sprite; its address is taken from one that the server wrote, or from the page's own sheet. */
export function icon(name, kind = "") {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", `icon ${kind}`.trim());
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `${new URL("../build/icons.svg", import.meta.url).pathname}#${name}`);
  svg.append(use);
  return svg;
}

export function csrf() {
  return JSON.parse(document.body.getAttribute("hx-headers") || "{}")["X-CSRFToken"] || "";
}
