// Shows one source: the line that runs next, breakpoints in the gutter, a line chosen by keyboard.

import { baseName, element, find, plainText } from "./dom.js";
import { appendLine } from "./highlight.js";
import { VirtualList } from "./virtual_list.js";

const HEIGHT = 20;
const SOURCES_MOST = 10;
const TAB = "    ";

export class SourceView {
  /**
   * `read(source)` returns a source's text; `toggle(path, line)` sets or removes a breakpoint, and
   * `change(path, line)` asks for its condition.
   */
  constructor({ read, toggle, change }) {
    this.read = read;
    this.toggle = toggle;
    this.change = change;
    this.lines = [];
    this.path = null;
    this.current = 0;
    this.isTop = true;
    this.cursor = 0;
    this.breakpoints = new Map();
    this.sources = new Map();
    this.container = find("source");
    this.list = new VirtualList(this.container, { height: HEIGHT, render: (row, at) => this.render(row, at) });
    this.container.addEventListener("keydown", (event) => this.press(event));
    this.container.addEventListener("click", (event) => this.click(event));
    this.container.addEventListener("contextmenu", (event) => {
      if (!event.target.closest(".gutter") || !this.path) return;
      event.preventDefault();
      this.cursor = Number(event.target.closest(".row").dataset.line);
      this.changeAtCursor();
    });
  }

  forget() {
    this.sources.clear();
  }

  /** Shows a line of a source; `isTop`: it is the line that runs next, and not a caller's. */
  async show(source, line, { isTop = true } = {}) {
    const path = source?.path ?? null;
    this.wanted = `${path}:${source?.sourceReference ?? 0}`;
    const wanted = this.wanted;
    let lines;
    try {
      lines = source ? await this.load(source) : null;
    } catch (error) {
      if (wanted === this.wanted) this.showProblem(source, error.message);
      return;
    }
    if (wanted !== this.wanted) return;
    if (lines === null) return this.showProblem(source, "There is no source here.");
    this.current = line;
    this.isTop = isTop;
    this.cursor = line;
    this.setLines(path, lines);
    find("place").textContent = line ? `line ${line}` : "";
    this.list.showRow(line - 1, { centred: true });
  }

  setLines(path, lines) {
    this.path = path;
    this.problem = null;
    this.extension = path?.includes(".") ? path.slice(path.lastIndexOf(".") + 1) : "";
    if (this.lines !== lines) {
      this.lines = lines;
      const width = lines.reduce((most, one) => Math.max(most, one.length), 0);
      this.list.setWidth(width + 14);
    }
    find("file").textContent = path ? plainText(baseName(path), 200) : "Source";
    find("file").title = path ?? "";
    this.list.setCount(lines.length);
  }

  showProblem(source, text) {
    this.setLines(source?.path ?? null, []);
    this.current = 0;
    this.problem = text;
    find("place").textContent = "";
    this.list.setCount(1);
  }

  async load(source) {
    const key = `${source.path}:${source.sourceReference ?? 0}`;
    if (!this.sources.has(key)) {
      const text = await this.read(source);
      this.sources.set(key, text.split("\n").map((one) => one.replace(/\r$/, "").replaceAll("\t", TAB)));
      if (this.sources.size > SOURCES_MOST) this.sources.delete(this.sources.keys().next().value);
    }
    return this.sources.get(key);
  }

  /** Marks the program as running: no line runs next. */
  setRunning(isRunning) {
    this.container.classList.toggle("running", isRunning);
  }

  setBreakpoints(breakpoints) {
    this.breakpoints = new Map(breakpoints.filter((one) => one.file && one.line).map((one) => [`${one.file}:${one.line}`, one]));
    this.list.schedule();
  }

  render(row, at) {
    const number = at + 1;
    row.dataset.line = number;
    row.className = "row line";
    if (this.problem || at >= this.lines.length) {
      row.parts = null;
      row.replaceChildren(element("span", { class: "empty" }, this.problem ?? ""));
      return;
    }
    // The parts stay: a click on one that is filled anew meanwhile is still a click on it.
    const parts = row.parts ?? this.addParts(row);
    const isCurrent = number === this.current;
    row.classList.toggle("current", isCurrent && this.isTop);
    row.classList.toggle("caller", isCurrent && !this.isTop);
    row.classList.toggle("cursor", number === this.cursor);
    if (isCurrent) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
    parts.number.textContent = number;
    parts.arrow.textContent = isCurrent ? (this.isTop ? "▶" : "▷") : "";
    this.renderGutter(parts.gutter, number);
    if (parts.lines !== this.lines || parts.at !== at) {
      parts.lines = this.lines;
      parts.at = at;
      parts.text.replaceChildren();
      appendLine(parts.text, plainText(this.lines[at]), this.extension);
    }
  }

  addParts(row) {
    const number = element("span", { class: "number" });
    const gutter = element("button", { class: "gutter", tabindex: "-1" }, number);
    const arrow = element("span", { class: "arrow", "aria-hidden": "true" });
    const text = element("span", { class: "text" });
    row.replaceChildren(gutter, arrow, text);
    row.parts = { number, gutter, arrow, text };
    return row.parts;
  }

  renderGutter(gutter, number) {
    const known = this.breakpoints.get(`${this.path}:${number}`);
    gutter.dataset.kind = known ? (known.log ? "log" : known.condition || known.hit_count ? "conditional" : "plain") : "none";
    gutter.toggleAttribute("data-off", Boolean(known && !(known.enabled && known.verified)));
    gutter.title = known
      ? `${number}: breakpoint ${known.id}${known.condition ? `, if ${known.condition}` : ""}${known.log ? `, logs ${known.log}` : ""}${known.verified ? "" : ", not bound"}: remove it; right click (Shift+F9): condition`
      : `${number}: set a breakpoint; right click (Shift+F9): with a condition`;
    gutter.setAttribute("aria-label", gutter.title);
    gutter.setAttribute("aria-pressed", String(Boolean(known)));
  }

  click(event) {
    const row = event.target.closest(".row");
    if (!row || !this.lines.length) return;
    this.cursor = Number(row.dataset.line);
    if (event.target.closest(".gutter")) this.toggle(this.path, this.cursor);
    this.list.schedule();
  }

  changeAtCursor() {
    if (this.path && this.cursor) this.change(this.path, this.cursor);
  }

  toggleAtCursor() {
    if (this.path && this.cursor) this.toggle(this.path, this.cursor);
  }

  press(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: this.list.pageRows(), PageUp: -this.list.pageRows() };
    let to = this.cursor;
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.key in steps) to += steps[event.key];
    else if (event.key === "Home") to = 1;
    else if (event.key === "End") to = this.lines.length;
    else return;
    event.preventDefault();
    this.cursor = Math.max(1, Math.min(to, this.lines.length));
    this.list.showRow(this.cursor - 1);
  }
}
