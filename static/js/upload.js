/* Inputs of a new job: files and folders dropped or picked, each sent in chunks of 8 MB by the tus protocol (tus-js-client),
   with its progress, resumed after a break, its error beside it. One idea: a file that has arrived becomes a row of the form,
   written by the server; the form itself never carries a file. Without JavaScript the plain file field does.

   Root: [data-upload] with the address where uploads are created; data-row: address of the row of a file (?file=ID);
   data-list: selector of the list of rows; inside, a drop place [data-drop] with a file field. */
import { csrf, icon, make, whenAdded } from "./dom.js";
import { size } from "./words.js";

const PAUSES = [0, 500, 1000, 2000, 4000, 8000, 15000, 15000, 15000, 15000];
const AT_ONCE = 3;

class Uploads {
  constructor(root) {
    this.root = root;
    this.list = document.querySelector(root.dataset.list);
    this.form = root.closest("form");
    this.waiting = [];
    this.running = 0;
    this.says = make("p", { className: "form-hint" });
    this.says.setAttribute("role", "status");
    this.drop(root.querySelector("[data-drop]"));
    this.list.addEventListener("click", (event) => this.clicked(event));
    this.form?.addEventListener("submit", (event) => this.submitted(event));
  }

  /* ---- files come ---- */

  drop(place) {
    const files = place.querySelector("input[type=file]"), folder = make("input", { type: "file", multiple: true, hidden: true, webkitdirectory: true });
    const word = make("button", { type: "button", className: "btn btn-sm btn-quiet" }, icon("folder"), "Choose a folder");
    for (const field of [files, folder]) field.addEventListener("change", (event) => this.picked(event, field));
    word.addEventListener("click", () => folder.click());
    place.append(folder, word);
    place.after(this.says);
    place.addEventListener("dragover", (event) => { event.preventDefault(); place.classList.add("is-over"); });
    place.addEventListener("dragleave", () => place.classList.remove("is-over"));
    place.addEventListener("drop", (event) => this.dropped(event, place));
  }

  picked(event, field) {
    event.stopPropagation(); // no change of the form yet
    this.add([...field.files].map((file) => [file.webkitRelativePath || file.name, file]));
    field.value = "";
  }

  async dropped(event, place) {
    event.preventDefault();
    place.classList.remove("is-over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean); // before any await
    this.add((await Promise.all(entries.map((entry) => walk(entry)))).flat());
  }

  add(files) {
    for (const [path, file] of files) {
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
    row.upload = new window.tus.Upload(file, {
      endpoint: this.root.dataset.upload, chunkSize: Number(this.root.dataset.chunk) || 8 << 20, retryDelays: PAUSES,
      metadata: { filename: path, filetype: file.type }, removeFingerprintOnSuccess: true,
      fingerprint: async () => ["headrace", path, file.size, file.lastModified].join("|"),
      onBeforeRequest: (request) => request.setHeader("X-CSRFToken", csrf()),
      onAfterResponse: (request, answer) => { row.file = answer.getHeader("Headrace-File") || row.file; },
      onShouldRetry: (error) => retry(error, row),
      onProgress: (sent, all) => progress(row, sent, all),
      onSuccess: () => this.arrived(row).catch(() => failed(row, {})).finally(() => this.over(row)),
      onError: (error) => { failed(row, error); this.over(row); },
    });
    row.upload.findPreviousUploads().catch(() => []).then((found) => {
      if (found.length) row.upload.resumeFromPreviousUpload(found[0]);
      this.start(row);
    });
    this.running += 1;
    row.dataset.step = "sending";
  }

  start(row) {
    if (row.isConnected) row.upload.start();
  }

  over(row) {
    if (row.dataset.step === "gone") return;
    this.running -= 1;
    this.next();
  }

  /** The row of the server takes the place of the progress. */
  async arrived(row) {
    const answer = await fetch(`${this.root.dataset.row}?${new URLSearchParams({ file: row.file })}`);
    if (!answer.ok) throw new Error(answer.status);
    const made = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("li");
    row.replaceWith(made);
    window.htmx?.process(made);
    this.list.dispatchEvent(new Event("change", { bubbles: true }));
  }

  remove(row) {
    if (row.dataset.step === "sending") { row.upload?.abort(true).catch(() => {}); this.running -= 1; }
    row.dataset.step = "gone";
    row.remove();
    this.next();
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
    row.dataset.step = "waiting";
    return row;
  }

  /* ---- the form around ---- */

  rows() {
    return [...this.list.querySelectorAll("li[data-path]")];
  }

  clicked(event) {
    const row = event.target.closest("li");
    if (event.target.closest("[data-away]")) this.remove(row);
    if (event.target.closest("[data-again]")) this.again(row);
    if (!event.target.closest("[data-remove]")) return;
    event.preventDefault();
    row.remove();
    this.list.dispatchEvent(new Event("change", { bubbles: true }));
  }

  again(row) {
    row.className = "tone-work";
    row.dataset.step = "sending";
    row.querySelector("[data-again]").hidden = true;
    this.running += 1;
    this.start(row);
    this.changed();
  }

  /** A form is not sent while files are under way. */
  submitted(event) {
    if (!this.rows().length || ["check", "review"].includes(event.submitter?.value)) return;
    event.preventDefault();
    this.say("Wait until all files have arrived, or remove those that have not.");
    this.says.scrollIntoView({ block: "center" });
  }

  changed() {
    const rows = this.rows(), failed = rows.filter((row) => row.dataset.step === "failed").length, left = rows.length - failed;
    const words = left ? `${left} file${left === 1 ? "" : "s"} on the way` : "";
    this.say([words, failed ? `${failed} could not be uploaded` : ""].filter(Boolean).join(", "));
  }

  say(words) {
    if (this.says.textContent !== words) this.says.textContent = words;
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
  row.dataset.step = "failed";
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
