// Shows a list of any length: only the rows that are in view are elements.

import { element } from "./dom.js";

const SPARE = 8; // rows above and below the view
// Browsers place nothing exactly beyond some ten million pixels.
const PIXELS_MOST = 8_000_000;
const CHARACTERS_MOST = 2_100;

export class VirtualList {
  /** `render(row, index)` fills the element of a row, which may have shown another before. */
  constructor(scroller, { height, render }) {
    this.scroller = scroller;
    this.height = height;
    this.render = render;
    this.count = 0;
    this.scale = 1;
    this.rows = [];
    this.space = element("div", { class: "space", role: "presentation" });
    this.layer = element("div", { class: "layer", role: "presentation" });
    scroller.append(this.space, this.layer);
    scroller.addEventListener("scroll", () => this.scheduleDraw(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
  }

  setCount(count) {
    this.schedule();
    if (count === this.count) return;
    this.count = count;
    const pixels = Math.min(count * this.height, PIXELS_MOST);
    // With more rows than fit, a pixel of scrolling stands for more than one.
    this.scale = count * this.height > PIXELS_MOST ? (count * this.height) / PIXELS_MOST : 1;
    this.space.style.height = `${pixels}px`;
  }

  /** Draws all rows again, with the next frame: what they show has changed. */
  schedule() {
    this.isStale = true;
    this.scheduleDraw();
  }

  scheduleDraw() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.isScheduled = false;
    // What has the focus in a row may be removed: the list has it then.
    if (this.layer.contains(document.activeElement)) this.scroller.focus({ preventScroll: true });
    const top = this.scroller.scrollTop;
    const shown = Math.ceil(this.scroller.clientHeight / this.height) + 2 * SPARE;
    const at = Math.floor((top * this.scale) / this.height);
    const first = Math.max(0, Math.min(at - SPARE, this.count - shown));
    const needed = Math.min(shown, this.count - first);
    if (needed !== this.rows.length) this.changeRows(needed);
    // Where a pixel of scrolling stands for several, the rows in view are put where the view is.
    const shift = this.scale > 1 ? top - at * this.height : 0;
    for (let index = first; index < first + needed; index += 1) {
      // A row keeps its element while it is in view: only those that come into view are filled.
      const row = this.rows[index % needed];
      if (row.index !== index || row.shift !== shift) row.element.style.transform = `translateY(${index * this.height + shift}px)`;
      if (this.isStale || row.index !== index) this.render(row.element, index);
      row.index = index;
      row.shift = shift;
    }
    this.isStale = false;
  }

  changeRows(needed) {
    while (this.rows.length < needed) {
      const row = { element: element("div", { class: "row" }), index: -1, shift: 0 };
      row.element.style.height = `${this.height}px`;
      this.rows.push(row);
      this.layer.append(row.element);
    }
    while (this.rows.length > needed) this.rows.pop().element.remove();
    for (const row of this.rows) row.index = -1;
  }

  /** Sets the width of the longest row, in characters; rows are at least as wide as the view. */
  setWidth(characters) {
    const width = `max(100%, ${Math.min(characters, CHARACTERS_MOST)}ch)`;
    this.layer.style.minWidth = width;
    this.space.style.minWidth = width;
  }

  /** Scrolls so that a row is in view; with `centred` into its middle, if it was not in view. */
  showRow(index, { centred = false } = {}) {
    const view = this.scroller.clientHeight;
    const top = (index * this.height) / this.scale;
    const seen = this.scroller.scrollTop;
    if (top >= seen && top + this.height <= seen + view) return this.schedule();
    if (centred) this.scroller.scrollTop = top - view / 2 + this.height;
    else this.scroller.scrollTop = top < seen ? top : top - view + this.height;
    this.schedule();
  }

  isAtEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    return scrollTop + clientHeight >= scrollHeight - this.height;
  }

  showEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.schedule();
  }

  /** The number of rows that fit into the view. */
  pageRows() {
    return Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 1);
  }
}
