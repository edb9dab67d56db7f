// What does this Node wait for? Loaded before the program, it knows where promises were made
// that are not settled yet; asked by the debugger, it tells of them.
"use strict";
const hooks = require("node:async_hooks");
const MOST = 20000;
const pending = new Map();
Error.stackTraceLimit = Math.max(Error.stackTraceLimit, 12);

hooks.createHook({
  init(id, type) {
    if (type !== "PROMISE" || pending.size >= MOST) return;
    const holder = {};
    Error.captureStackTrace(holder);
    pending.set(id, holder);
  },
  promiseResolve(id) { pending.delete(id); },
  destroy(id) { pending.delete(id); },
}).enable();

function places(stack) {
  const found = [];
  for (const line of stack.split("\n").slice(1)) {
    const match = /at (?:(async )?(.*?) \()?(?:file:\/\/)?(\/.*?):(\d+):(\d+)\)?$/.exec(line);
    if (match && match[3] !== __filename && !match[3].includes("/node_modules/"))
      found.push([match[2] || "<module>", match[3], Number(match[4]), Number(match[5])]);
  }
  return found;
}

let text = "";

// In parts from `start` on: js-debug cuts long texts in their middle.
Object.defineProperty(globalThis, Symbol.for("debugger.pending"), {
  value: (start, count) => {
    if (start > 0) return text.slice(start, start + count);
    const told = new Map();
    for (const holder of pending.values()) {
      const found = places(holder.stack).slice(0, 6);
      if (!found.length) continue;
      const key = JSON.stringify(found);
      told.set(key, (told.get(key) || 0) + 1);
    }
    const shown = [...told].slice(0, 40).map(([key, times]) => [times, JSON.parse(key)]);
    text = JSON.stringify(shown);
    return text.slice(0, count);
  },
});
