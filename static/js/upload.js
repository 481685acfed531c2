/* Inputs of a new job: files and folders dropped or picked, each sent in chunks of 8 MB by the tus protocol (tus-js-client),
   with its progress, resumed after a break, its error beside it. One idea: a file that has arrived leaves a hidden input
   with its id in the form; the form itself never carries a file. Without JavaScript the plain file field of the form does.

   Root: [data-upload] with data-url (where uploads are created), data-name (of the hidden inputs); inside, a drop place
   [data-drop] and a list [data-list]. The server answers a create with the address of the upload, whose last part is its id. */
import { csrf, icon, make, whenAdded } from "./dom.js";
import { size } from "./words.js";

const CHUNK = 8 * 1024 * 1024;
const PAUSES = [0, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000, 15000];
const AT_ONCE = 3;

class Uploads {
  constructor(root) {
    this.root = root;
    this.list = root.querySelector("[data-list]");
    this.waiting = [];
    this.running = 0;
    this.drop();
    root.addEventListener("click", (event) => this.clicked(event));
    root.closest("form")?.addEventListener("submit", (event) => this.submitted(event));
  }

  /* ---- files come ---- */

  drop() {
    const place = this.root.querySelector("[data-drop]");
    const files = make("input", { type: "file", multiple: true, hidden: true });
    const folder = make("input", { type: "file", multiple: true, hidden: true, webkitdirectory: true });
    for (const input of [files, folder]) input.addEventListener("change", () => { this.add([...input.files].map((file) => [file.webkitRelativePath || file.name, file])); input.value = ""; });
    place.append(files, folder);
    place.querySelector("[data-pick=files]")?.addEventListener("click", (event) => { event.preventDefault(); files.click(); });
    place.querySelector("[data-pick=folder]")?.addEventListener("click", (event) => { event.preventDefault(); folder.click(); });
    place.addEventListener("dragover", (event) => { event.preventDefault(); place.classList.add("is-over"); });
    place.addEventListener("dragleave", () => place.classList.remove("is-over"));
    place.addEventListener("drop", (event) => this.dropped(event, place));
  }

  async dropped(event, place) {
    event.preventDefault();
    place.classList.remove("is-over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean); // before any await
    this.add((await Promise.all(entries.map((entry) => walk(entry)))).flat());
  }

  add(files) {
    for (const [path, file] of files) {
      this.rows().filter((row) => row.dataset.path === path).forEach((row) => this.remove(row)); // the newer one replaces it
      const row = this.row(path, file.size);
      this.list.append(row);
      this.waiting.push({ path, file, row });
    }
    this.next();
  }

  next() {
    while (this.running < AT_ONCE && this.waiting.length) {
      const job = this.waiting.shift();
      if (job.row.isConnected) this.send(job);
    }
    this.changed();
  }

  /* ---- one file ---- */

  send({ path, file, row }) {
    this.running += 1;
    const over = () => { this.running -= 1; this.next(); };
    row.upload = new window.tus.Upload(file, {
      endpoint: this.root.dataset.url, chunkSize: CHUNK, retryDelays: PAUSES, removeFingerprintOnSuccess: true,
      metadata: { filename: path, filetype: file.type },
      onBeforeRequest: (request) => request.setHeader("X-CSRFToken", csrf()),
      fingerprint: async () => ["headrace", this.root.dataset.url, path, file.size, file.lastModified].join("|"),
      onShouldRetry: (error) => retry(error, row),
      onProgress: (sent, all) => progress(row, sent, all),
      onSuccess: () => { this.arrived(row); over(); },
      onError: (error) => { failed(row, error); over(); },
    });
    row.upload.findPreviousUploads().catch(() => []).then((found) => {
      if (found.length) row.upload.resumeFromPreviousUpload(found[0]);
      row.upload.start();
    });
    row.end = over;
  }

  arrived(row) {
    row.end = null;
    row.dataset.state = "done";
    row.className = "tone-pass";
    const id = new URL(row.upload.url, location.href).pathname.replace(/\/+$/, "").split("/").pop();
    row.append(make("input", { type: "hidden", name: this.root.dataset.name, value: id }));
    row.querySelector("[data-says]").replaceChildren("uploaded");
    row.firstElementChild.replaceWith(icon("file-check"));
    this.changed();
  }

  remove(row) {
    if (row.end && row.dataset.state !== "failed") { row.upload?.abort(); row.end(); }
    row.remove();
    this.changed();
  }

  row(path, bytes) {
    const again = make("button", { type: "button", className: "btn btn-sm btn-quiet", textContent: "Try again", hidden: true });
    again.dataset.again = "";
    const away = make("button", { type: "button", className: "btn btn-sm btn-quiet btn-icon" }, icon("x"));
    away.dataset.away = "";
    away.setAttribute("aria-label", `Remove ${path}`);
    const says = make("span", { className: "small quiet num" });
    says.dataset.says = "";
    const row = make("li", { className: "tone-work" }, icon("file-upload"), make("span", { className: "mono name", textContent: path, title: path }),
      make("span", { className: "num quiet", textContent: size(bytes) }), make("span", { className: "row-line" }, says, again, away),
      make("progress", { max: Math.max(1, bytes), value: 0 }));
    row.querySelector("progress").setAttribute("aria-label", `Upload of ${path}`);
    says.textContent = "waiting";
    row.dataset.path = path;
    row.dataset.state = "sending";
    return row;
  }

  /* ---- the form around ---- */

  rows() {
    return [...this.list.querySelectorAll("li[data-path]")];
  }

  clicked(event) {
    const row = event.target.closest("li[data-path]");
    if (!row) return;
    if (event.target.closest("[data-away]")) this.remove(row);
    if (event.target.closest("[data-again]")) this.again(row);
  }

  again(row) {
    row.className = "tone-work";
    row.dataset.state = "sending";
    row.querySelector("[data-again]").hidden = true;
    const over = () => { this.running -= 1; this.next(); };
    this.running += 1;
    row.end = over;
    row.upload.options.onSuccess = () => { this.arrived(row); over(); };
    row.upload.options.onError = (error) => { failed(row, error); over(); };
    row.upload.start();
    this.changed();
  }

  /** A form is not sent while files are under way. */
  submitted(event) {
    if (!this.busy()) return;
    event.preventDefault();
    this.say("Wait until all files have arrived, or remove those that have not.");
  }

  busy() {
    return this.rows().some((row) => row.dataset.state === "sending");
  }

  changed() {
    const rows = this.rows(), done = rows.filter((row) => row.dataset.state === "done").length;
    this.say(rows.length ? `${done} of ${rows.length} file${rows.length === 1 ? "" : "s"} uploaded` : "");
    this.root.dispatchEvent(new CustomEvent("headrace:files", { bubbles: true, detail: { busy: this.busy() } }));
  }

  say(words) {
    const place = this.root.querySelector("[data-status]");
    if (place && place.textContent !== words) place.textContent = words;
  }
}

/** All files below a dropped file or folder, as [path, File]. */
async function walk(entry, below = "") {
  const path = below + entry.name;
  if (entry.isFile) return [[path, await new Promise((done, fail) => entry.file(done, fail))]];
  const reader = entry.createReader(), found = [];
  for (;;) { // a reader gives some hundred entries at a time
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return found.flat();
    for (const one of some) found.push(await walk(one, `${path}/`));
  }
}

function progress(row, sent, all) {
  row.querySelector("progress").value = all ? sent : 1;
  row.querySelector("[data-says]").textContent = all ? `${size(sent)} of ${size(all)}` : "";
}

function retry(error, row) {
  const status = error.originalResponse?.getStatus() ?? 0;
  const again = status === 0 || status === 409 || status === 423 || status >= 500 && status !== 507;
  if (again) row.querySelector("[data-says]").textContent = "connection lost, trying again";
  return again;
}

function failed(row, error) {
  row.end = null;
  row.dataset.state = "failed";
  row.className = "tone-fail";
  row.querySelector("[data-again]").hidden = false;
  row.querySelector("[data-says]").replaceChildren(make("span", { className: "toned", textContent: reason(error) }));
}

/** What the server said, or what the status means. */
function reason(error) {
  const answer = error.originalResponse, said = answer?.getBody() ?? "";
  if (said && said.length < 300 && !said.includes("<")) return said.trim();
  const known = { 0: "the portal can't be reached", 403: "you may have been signed out", 413: "too big", 507: "the portal's disk is full" };
  return known[answer?.getStatus() ?? 0] ?? `refused (${answer.getStatus()})`;
}

whenAdded("[data-upload]", (root) => new Uploads(root));
