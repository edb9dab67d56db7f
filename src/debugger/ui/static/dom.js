// Builds elements. Every text is set as text: nothing here, or elsewhere, makes HTML from one.

const SVG = "http://www.w3.org/2000/svg";

export function find(id) {
  return document.getElementById(id);
}

/** Creates an element with attributes, and with children: elements or texts. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Creates an element of SVG. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((one) => one !== null && one !== undefined));
  return made;
}

// ANSI's sequences (ECMA-48, 5.4) and operating system commands.
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a text of the program on one line: without colours, control characters made visible. */
export function plainText(text, most = 2000) {
  const cut = text.length > most ? `${text.slice(0, most)} … ${text.length - most} more characters` : text;
  return cut.replace(ANSI, "").replace(CONTROL, (one) => {
    const code = one.codePointAt(0);
    if (code < 32) return String.fromCodePoint(0x2400 + code);
    return code === 127 ? "␡" : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

export function baseName(path) {
  return path ? path.slice(path.lastIndexOf("/") + 1) : "";
}

const shown = new WeakMap();
const FOCUSABLE = "button, input";

/**
 * Fills a list, unless its data are what it shows already: nothing moves under a click for no reason.
 * What had the focus has it again, in the item with the same `data-key`, or in that after one that
 * is gone.
 */
export function fillList(list, data, build) {
  const text = JSON.stringify(data);
  if (shown.get(list) === text) return;
  shown.set(list, text);
  const focused = noteFocus(list);
  list.replaceChildren(...build());
  if (focused) focusAgain(list, focused);
}

function noteFocus(list) {
  const item = [...list.children].find((one) => one.contains(document.activeElement));
  if (!item) return null;
  return {
    key: item.dataset.key,
    at: [...list.children].indexOf(item),
    part: [...item.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement),
  };
}

function focusAgain(list, { key, at, part }) {
  const items = [...list.children];
  const item = items.find((one) => one.dataset.key === key) ?? items[Math.min(at, items.length - 1)];
  const parts = [...(item?.querySelectorAll(FOCUSABLE) ?? [])];
  parts[Math.min(Math.max(part, 0), parts.length - 1)]?.focus({ preventScroll: true });
}

let toastTimer = 0;

/** Shows a short message, which is also read aloud. */
export function showToast(text) {
  const toast = find("toast");
  toast.textContent = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => toast.replaceChildren(), 5000);
}
