// What does this Node wait for? Loaded before the program, it knows where promises were made
// that are not settled yet; asked by the debugger, it tells of them.
"use strict";
const hooks = require("node:async_hooks");
const MOST = 20000;
const pending = new Map();
Error.stackTraceLimit = Math.max(Error.stackTraceLimit, 12);

hooks.createHook({
  // An await makes a promise whose trigger is the awaited one; others are made by what runs.
  init(id, type, trigger) {
    if (type !== "PROMISE" || trigger === hooks.executionAsyncId() || pending.size >= MOST) return;
    const holder = {};
    Error.captureStackTrace(holder);
    pending.set(id, holder);
  },
  before(id) { pending.delete(id); },
  promiseResolve(id) { pending.delete(id); },
  destroy(id) { pending.delete(id); },
}).enable();

const HOOK = /\(node:internal\/async_hooks:/;
const FRAME = /^\s*at (?:async )?(?:(.*?) \()?(?:file:\/\/)?(\/.*?):(\d+):(\d+)\)?$/;

function places(stack) {
  const lines = stack.split("\n").slice(1);
  const found = lines
    .filter((line) => !HOOK.test(line) && !line.includes(__filename))
    .map((line) => FRAME.exec(line))
    .map((match) => match && !match[2].includes("/node_modules/") && match);
  // What then() or Promise.all() makes, or a library awaits, is no await of the program's own.
  if (!found[0]) return [];
  return found.filter(Boolean).map(
    ([, name, file, line, column]) => [name || "<module>", file, Number(line), Number(column)]);
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
