/* Small pictures of desktops: hidden while there is none to be had, asked for again now and then while they are looked at. */
import { whenAdded } from "./dom.js";

const AGAIN = 30000; // ms

whenAdded("img[data-fails]", (image) => {
  const address = image.getAttribute("src");
  const shown = () => { image.hidden = !image.naturalWidth; };
  image.addEventListener("load", shown);
  image.addEventListener("error", shown);
  if (image.complete) shown();
  const timer = setInterval(() => {
    if (!image.isConnected) clearInterval(timer);
    else if (!document.hidden) image.src = `${address}?${Date.now()}`;
  }, AGAIN);
});
