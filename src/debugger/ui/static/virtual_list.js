// Shows a list of any length: only the rows that are in view are elements.

import { element } from "./dom.js";

const SPARE = 8; // rows above and below the view
// Browsers place nothing exactly beyond some ten million pixels.
const PIXELS_MOST = 8_000_000;

export class VirtualList {
  /** `render(row, index)` fills the element of a row, which may have shown another before. */
  constructor(scroller, { height, render }) {
    this.scroller = scroller;
    this.height = height;
    this.render = render;
    this.count = 0;
    this.first = 0;
    this.rows = [];
    this.space = element("div", { class: "space", role: "presentation" });
    this.layer = element("div", { class: "layer", role: "presentation" });
    scroller.append(this.space, this.layer);
    scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
  }

  setCount(count) {
    if (count === this.count) return this.schedule();
    this.count = count;
    const pixels = Math.min(count * this.height, PIXELS_MOST);
    // With more rows than fit, a pixel of scrolling stands for more than one.
    this.scale = count * this.height > PIXELS_MOST ? (count * this.height) / PIXELS_MOST : 1;
    this.space.style.height = `${pixels}px`;
    this.schedule();
  }

  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.scheduled = false;
    const view = this.scroller.clientHeight;
    const top = this.scroller.scrollTop;
    const shown = Math.ceil(view / this.height) + 2 * SPARE;
    const at = Math.floor((top * (this.scale ?? 1)) / this.height);
    this.first = Math.max(0, Math.min(at - SPARE, this.count - shown));
    const needed = Math.min(shown, this.count - this.first);
    while (this.rows.length < needed) {
      const row = element("div", { class: "row" });
      row.style.height = `${this.height}px`;
      this.rows.push(row);
      this.layer.append(row);
    }
    while (this.rows.length > needed) this.rows.pop().remove();
    const shift = this.scale > 1 ? top - (at - this.first) * this.height : this.first * this.height;
    this.layer.style.transform = `translateY(${Math.max(0, shift)}px)`;
    this.rows.forEach((row, offset) => this.render(row, this.first + offset));
  }

  /** Scrolls so that a row is in view; with `centred` into its middle, if it was not in view. */
  showRow(index, { centred = false } = {}) {
    const view = this.scroller.clientHeight;
    const top = (index * this.height) / (this.scale ?? 1);
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
