// Shows the program's output: as many lines as it printed, up to a bound, streams apart.

import { element, find, plainText } from "./dom.js";
import { VirtualList } from "./virtual_list.js";

const HEIGHT = 18;
const LINES_MOST = 100_000;
const SPARE = 5_000; // lines beyond the bound before the oldest go: not for each line
const LINE_MOST = 2_000;
const STREAMS = ["stdout", "stderr", "console"];

export class OutputView {
  constructor() {
    this.lines = [];
    this.shown = this.lines;
    this.dropped = 0;
    this.width = 0;
    this.open = {};
    this.follows = true;
    this.container = find("output");
    this.list = new VirtualList(this.container, { height: HEIGHT, render: (row, at) => this.render(row, at) });
    this.container.addEventListener("scroll", () => {
      this.follows = this.list.isAtEnd();
      find("tail").hidden = this.follows;
    }, { passive: true });
    find("tail").addEventListener("click", () => this.showEnd());
    for (const stream of STREAMS) find(`show-${stream}`).addEventListener("change", () => this.filter());
  }

  clear() {
    this.lines = [];
    this.dropped = 0;
    this.open = {};
    this.filter();
  }

  /** Adds text of a stream; a line goes on with the next text until it ends. */
  add(category, text) {
    const stream = STREAMS.includes(category) ? category : "console";
    const parts = text.split("\n");
    const isOpen = parts.at(-1) !== "";
    if (!isOpen) parts.pop();
    const all = this.shown === this.lines;
    const shows = all || find(`show-${stream}`).checked;
    parts.forEach((part, at) => {
      const last = at === 0 ? this.open[stream] : undefined;
      if (last) {
        const whole = last.text.length + part.length;
        last.text = (last.text + part).slice(0, LINE_MOST);
        last.more += whole - last.text.length;
      } else {
        const line = { stream, text: part.slice(0, LINE_MOST), more: Math.max(0, part.length - LINE_MOST) };
        this.lines.push(line);
        if (!all && shows) this.shown.push(line);
      }
    });
    const width = parts.reduce((most, one) => Math.max(most, Math.min(one.length, LINE_MOST)), 0);
    if (width > this.width) {
      this.width = width;
      this.list.setWidth(width + 40);
    }
    this.open[stream] = isOpen ? this.lines.at(-1) : undefined;
    if (this.lines.length > LINES_MOST + SPARE) {
      const gone = this.lines.length - LINES_MOST;
      this.lines.splice(0, gone);
      this.dropped += gone;
      if (!all) this.filter();
    }
    this.update();
  }

  filter() {
    const on = STREAMS.filter((one) => find(`show-${one}`).checked);
    this.shown = on.length === STREAMS.length ? this.lines : this.lines.filter((one) => on.includes(one.stream));
    this.update();
  }

  update() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      const follows = this.follows;
      this.list.setCount(this.shown.length);
      const count = `${this.shown.length.toLocaleString("en")} ${this.shown.length === 1 ? "line" : "lines"}`;
      find("lines").textContent = `${count}${this.dropped ? `, ${this.dropped.toLocaleString("en")} older ones not kept` : ""}`;
      if (follows) this.showEnd();
    });
  }

  showEnd() {
    this.follows = true;
    find("tail").hidden = true;
    this.list.showEnd();
  }

  render(row, at) {
    const line = this.shown[at];
    row.className = "row out";
    row.replaceChildren();
    if (!line) return;
    row.dataset.stream = line.stream;
    const mark = { stdout: "", stderr: "err", console: "dbg" }[line.stream];
    row.append(element("span", { class: "mark" }, mark), element("span", { class: "text" }, plainText(line.text)));
    if (line.more) row.append(element("span", { class: "faint" }, ` … ${line.more.toLocaleString("en")} more characters`));
  }
}
