/* The command of a job: a plain textarea with the same text coloured behind it (prismjs) and line numbers beside it.
   One idea: the textarea stays what it is, so typing, undo, forms and screen readers work as everywhere. */
import { make, whenAdded } from "./dom.js";

class Command {
  constructor(editor) {
    this.field = editor.querySelector("textarea");
    this.numbers = editor.querySelector("ol");
    this.behind = make("pre", { className: "editor-behind" }, make("code"));
    this.behind.setAttribute("aria-hidden", "true");
    const box = make("div", { className: "editor-box" });
    this.field.replaceWith(box);
    box.append(this.behind, this.field);
    editor.classList.add("is-coloured");
    this.field.addEventListener("input", () => this.draw());
    this.field.addEventListener("scroll", () => this.scroll());
    this.field.form?.addEventListener("reset", () => setTimeout(() => this.draw()));
    new ResizeObserver(() => this.scroll()).observe(this.field);
    this.draw();
  }

  draw() {
    const text = this.field.value, lines = text.split("\n").length;
    if (text.length < 50000 && window.Prism) this.behind.firstChild.innerHTML = window.Prism.highlight(`${text}\n`, window.Prism.languages.bash, "bash");
    else this.behind.firstChild.textContent = `${text}\n`;
    this.numbers?.replaceChildren(...Array.from({ length: Math.min(lines, 5000) }, (_, i) => make("li", { textContent: i + 1 })));
    this.scroll();
  }

  scroll() {
    this.behind.scrollTop = this.field.scrollTop;
    this.behind.scrollLeft = this.field.scrollLeft;
    if (this.numbers) this.numbers.style.transform = `translateY(${-this.field.scrollTop}px)`;
  }
}

whenAdded(".editor", (editor) => new Command(editor));
