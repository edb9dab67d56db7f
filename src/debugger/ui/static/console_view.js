// Evaluates what a person types, in the frame that is shown; answers above, the newest last.

import { element, find, plainText } from "./dom.js";

const ENTRIES_MOST = 500;
const HISTORY_MOST = 200;
const ANSWER_MOST = 5_000;

export class ConsoleView {
  /** `evaluate(text)` returns the answer; `onWatch(text)` watches an expression. */
  constructor({ evaluate, onWatch }) {
    this.evaluate = evaluate;
    this.onWatch = onWatch;
    this.history = [];
    this.at = 0;
    this.log = find("console-log");
    this.input = find("console-input");
    find("console-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    this.input.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.at = Math.max(0, Math.min(this.at + step, this.history.length));
      this.input.value = this.history[this.at] ?? "";
    });
  }

  /** Says whether what is typed may change the program. */
  setActing(acts) {
    this.input.placeholder = acts ? "Evaluate in the chosen frame; it may change the program" : "Evaluate in the chosen frame: reads only, until you take over";
  }

  async run() {
    const text = this.input.value.trim();
    if (!text) return;
    this.input.value = "";
    if (this.history.at(-1) !== text) this.history.push(text);
    if (this.history.length > HISTORY_MOST) this.history.shift();
    this.at = this.history.length;
    const answer = element("span", { class: "faint" }, "…");
    const entry = element("div", { class: "entry" }, element("p", { class: "asked" }, plainText(text, 500)), element("p", { class: "answered" }, answer));
    this.log.append(entry);
    while (this.log.childElementCount > ENTRIES_MOST) this.log.firstElementChild.remove();
    this.log.scrollTop = this.log.scrollHeight;
    try {
      const found = await this.evaluate(text);
      const inside = found.variablesReference
        ? element("button", { class: "plain small", onclick: () => this.onWatch(text) }, "Watch")
        : null;
      answer.replaceWith(element("span", { class: "value" }, plainText(found.result, ANSWER_MOST)),
        element("span", { class: "faint type" }, found.type ? ` ${plainText(found.type, 100)}` : ""), ...[inside].filter(Boolean));
    } catch (error) {
      answer.className = "problem";
      answer.textContent = plainText(error.message, 1000);
    }
    this.log.scrollTop = this.log.scrollHeight;
  }
}
