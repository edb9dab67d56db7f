// Puts an input over a value in a tree: Enter sets it, Escape leaves it as it is.

import { element } from "./dom.js";

let open = null;

export function closeEditBox() {
  open?.close();
}

/**
 * Edits the value of a tree's row.
 *
 * `commit(text)` sets it; while it fails, the box stays open and shows why.
 */
export function openEditBox(tree, node, { label, value, commit }) {
  closeEditBox();
  const pane = tree.container.parentElement;
  const input = element("input", { "aria-label": label, autocomplete: "off", spellcheck: "false" });
  const problem = element("p", { class: "problem", role: "alert" });
  const box = element("form", { class: "edit-box" }, input, problem);
  input.value = value;

  const place = () => {
    const at = tree.flat.indexOf(node);
    const row = at >= 0 ? tree.rowOf(at) : null;
    if (at < 0) return close();
    box.hidden = !row;
    if (!row) return undefined;
    const outer = pane.getBoundingClientRect();
    const inner = row.getBoundingClientRect();
    const from = row.querySelector(".value")?.getBoundingClientRect() ?? inner;
    const left = Math.max(0, Math.min(from.left - outer.left - 5, outer.width - 140));
    box.style.top = `${inner.top - outer.top - 1}px`;
    box.style.left = `${left}px`;
    return undefined;
  };
  const close = ({ refocus = false } = {}) => {
    if (open?.box !== box) return;
    open = null;
    box.remove();
    tree.container.removeEventListener("scroll", later);
    if (refocus) tree.container.focus();
  };
  const later = () => requestAnimationFrame(() => requestAnimationFrame(() => open?.box === box && place()));
  let isSending = false;
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    try {
      await commit(input.value);
      close({ refocus: true });
    } catch (error) {
      problem.textContent = error.message;
      input.setAttribute("aria-invalid", "true");
      input.focus();
    }
    isSending = false;
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close({ refocus: true });
    if (!/^F\d/.test(event.key)) event.stopPropagation();
  });
  input.addEventListener("blur", () => !isSending && setTimeout(() => !isSending && document.activeElement !== input && close(), 100));
  tree.container.addEventListener("scroll", later, { passive: true });
  pane.append(box);
  open = { box, close };
  place();
  input.focus();
  input.select();
}
