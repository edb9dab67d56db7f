// Watchpoints: four slots of the processor, the same for all threads.
'use strict';

const watches = new Map(); // slot to its watch
const seen = new Map(); // thread id to Frida's object of the thread

const set = (thread, watch) => {
  try {
    thread.setHardwareWatchpoint(watch.slot, watch.address, watch.size, watch.access);
  } catch (error) {
    if (!String(error).includes('thread')) throw error;
  }
};
const unset = (thread, slot) => {
  try {
    thread.unsetHardwareWatchpoint(slot);
  } catch (error) {
    seen.delete(thread.id);
  }
};

// Only the observer gives thread objects with setHardwareWatchpoint. It is attached at the
// first watchpoint and not before: it looks names up, for which it needs the loader's lock
// (17.26).
let threadObserver = null;
function observeThreads() {
  if (threadObserver !== null) return;
  threadObserver = Process.attachThreadObserver({
    onAdded(thread) {
      if (isOurs(thread.id)) return;
      seen.set(thread.id, thread);
      for (const watch of watches.values()) set(thread, watch);
    },
    onRemoved(thread) { seen.delete(thread.id); },
  });
}

function watch(order) {
  observeThreads();
  const slot = [0, 1, 2, 3].find((one) => !watches.has(one));
  if (slot === undefined) throw new Error('all four watchpoints are in use');
  const one = { ...order, slot, address: ptr(order.address) };
  one.value = hex(new Uint8Array(readBytes(one.address, one.size)));
  watches.set(slot, one);
  for (const thread of seen.values()) set(thread, one);
}

function unwatch(id) {
  for (const [slot, one] of watches) {
    if (one.id !== id) continue;
    watches.delete(slot);
    for (const thread of [...seen.values()]) unset(thread, slot);
  }
}

// The processor does not tell us which one it was: one whose value is new, else any that may.
function watchHit(view) {
  const told = [];
  for (const one of watches.values()) {
    const value = hex(new Uint8Array(readBytes(one.address, one.size)));
    if (value !== one.value) told.push({ id: one.id, before: one.value, after: value });
    one.value = value;
  }
  if (!told.length) {
    for (const one of watches.values()) {
      if (!one.changes) told.push({ id: one.id, before: one.value, after: one.value });
    }
  }
  if (told.length) pause('watch', view, { watches: told });
}
