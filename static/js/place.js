/* Places on an axis: data-left and data-width, in percent of the parent. The policy of the pages forbids styles in the
   markup; setting them from a script is allowed. */
import { whenAdded } from "./dom.js";

function place(element) {
  const { left, width } = element.dataset;
  if (left !== undefined) element.style.left = `${left}%`;
  if (width !== undefined) element.style.width = `${width}%`;
}

whenAdded("[data-left], [data-width]", (element) => {
  place(element);
  new MutationObserver(() => place(element)).observe(element, { attributeFilter: ["data-left", "data-width"] });
});
