// Asks for a breakpoint's condition, hit count and message, in a dialog.

import { baseName, find, plainText } from "./dom.js";

export class BreakpointForm {
  constructor() {
    this.dialog = find("breakpoint-dialog");
    this.fields = { condition: find("breakpoint-condition"), hitCount: find("breakpoint-hits"), log: find("breakpoint-log") };
    this.problem = find("breakpoint-problem");
    find("breakpoint-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    find("breakpoint-cancel").addEventListener("click", () => this.dialog.close());
  }

  /** Opens it; `save({condition, hitCount, log})` sets or changes the breakpoint, or fails. */
  open({ path, line, known, save }) {
    this.save = save;
    const place = known?.function && !known.file ? known.function : `${baseName(path)}:${line}`;
    find("breakpoint-title").textContent = `${known ? `Breakpoint ${known.id}` : "New breakpoint"} at ${plainText(place, 100)}`;
    this.fields.condition.value = known?.condition ?? "";
    this.fields.hitCount.value = known?.hit_count ?? "";
    this.fields.log.value = known?.log ?? "";
    this.problem.textContent = "";
    this.dialog.showModal();
    this.fields.condition.focus();
  }

  async submit() {
    const { condition, hitCount, log } = this.fields;
    try {
      await this.save({ condition: condition.value.trim(), hitCount: Number(hitCount.value) || 0, log: log.value.trim() });
      this.dialog.close();
    } catch (error) {
      this.problem.textContent = plainText(error.message, 500);
    }
  }
}
