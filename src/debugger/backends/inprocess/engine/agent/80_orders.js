// The orders that come in, one function each, and the end.
'use strict';

function mapArena(near, size) {
  // Steps of 512 KiB, below and above in turn, up to 1.7 GiB away: a jump reaches 2 GiB.
  // MAP_FIXED_NOREPLACE (0x100000) takes free addresses only; kernels before 4.17 take it as
  // a hint.
  const from = ptr(near).and(ptr(-PAGE));
  for (let k = 1; k < 3500; k++) {
    const step = k * 0x80000;
    const places = from.compare(ptr(step)) > 0 ? [from.sub(step), from.add(step)] : [from.add(step)];
    for (const at of places) {
      const got = mmap(at, size, 7, 0x100022, -1, 0);
      if (got.equals(at)) return got;
      if (!got.equals(ptr(-1))) munmap(got, size);
    }
  }
  throw new Error(`no free memory near ${near}`);
}


// Points whose code cannot be written are taken back as a whole.
function addAll(added) {
  const failed = {};
  const drop = (id, error) => { failed[id] = String(error.message || error); };
  try {
    together(() => {
      for (const point of added) try { addPoint(point); } catch (error) { drop(point.id, error); }
    });
  } catch (error) {
    for (const { id } of added) drop(id, error);
    try { together(() => added.forEach(({ id }) => removePoint(id))); } catch (again) { /* it is said above */ }
  }
  return failed;
}

const orders = {
  peek: ({ addresses, count }) => {
    const bytes = new Uint8Array(addresses.length * count);
    addresses.forEach((address, i) => bytes.set(new Uint8Array(readBytes(ptr(address), count)), i * count));
    return [{}, bytes.buffer];
  },
  arena: ({ near, size }) => {
    const arena = mapArena(near, size);
    noteOwnCode(arena, size);
    mappings.push([arena, size]);
    arena.writeByteArray(enterCode());
    return arena;
  },
  sites: ({ sites: made, width }, bytes) => {
    const code = new Uint8Array(bytes);
    made.forEach((site, i) => makeSite(site, Array.from(code.subarray(i * width, (i + 1) * width))));
  },
  add: ({ points: added }) => { findOurs(); return addAll(added); },
  remove: ({ ids }) => together(() => { ids.forEach(removePoint); }),
  aborts: ({ address }) => catchAbort(address),
  tally: () => tally(),
  read: ({ address, count }) => [{}, readBytes(ptr(address), count)],
  write: ({ address }, bytes) => writeBytes(ptr(address), Array.from(new Uint8Array(bytes))),
  set: ({ thread, values }) => {
    const view = viewOf(thread);
    for (const [name, value] of Object.entries(values)) view.set(name, value);
  },
  registers: ({ thread }) => registersOf(viewOf(thread)),
  threads: () => threadsNow().filter((thread) => !isOurs(thread))
    .map((thread) => ({ thread, name: threadFile(thread, 'comm'), paused: isPaused(thread) })),
  pause: ({ threads }) => threads.filter(askToPause),
  watch: ({ watch: one }) => watch(one),
  unwatch: ({ name }) => unwatch(name),
  trace: ({ functions, rate }) => { findOurs(); return together(() => traceAdd(functions, rate)); },
  skipped: () => skipped(),
  untrace: ({ ids }) => together(() => traceRemove(ids)),
  modules: () => Process.enumerateModules().map(({ name, path, base, size }) => ({ name, path, base, size })),
  flush: () => { sendAll(); },
  follow: ({ on }) => follow(on),
  leave: () => { leave(); },
  idle,
};

function answer(order, work, bytes) {
  const failed = (error) => send({ type: 'reply', id: order.id, error: String(error.message || error) });
  const done = (value) => {
    const withBytes = Array.isArray(value) && value.length === 2 && value[1] instanceof ArrayBuffer;
    const [plain, data] = withBytes ? value : [value === undefined ? null : value, null];
    send({ type: 'reply', id: order.id, value: plain }, data);
  };
  try {
    const value = work(order, bytes);
    if (value instanceof Promise) value.then(done, failed);
    else done(value);
  } catch (error) {
    failed(error);
  }
}

function listen() {
  recv('order', (order, bytes) => {
    listen();
    answer(order, orders[order.op], bytes);
  });
}

function acknowledge() {
  recv('ack', () => { acknowledge(); batchesOut = Math.max(batchesOut - 1, 0); });
}

let left = false;
function leave() {
  if (left) return;
  left = true;
  for (const id of [...watches.values()].map((one) => one.id)) unwatch(id);
  if (threadObserver !== null) threadObserver.detach();
  for (const site of sites) { disarm(site); wakeAt(site, NEVER); }
  for (const count of groups.values()) wake(count.at, NEVER);
  traceRemove([...traced.keys()]);
  if (tracer !== null) tracer.state.add(48).writeU32(0);
  leaveSignals();
  freeExecs();
  freeExits();
}

// Frida asks for it when the program exits, too: then there is still something to see. Whoever is
// in his exit waits until this has answered, and is waited for then: Frida answers in the first turn.
rpc.exports = {
  dispose() {
    if (isHostThere()) return null;
    freeExits();
    leave();
    const answered = Promise.resolve();
    answered.then(() => {}).then(awaitExits);
    return answered;
  },
};

takeSignals();
listen();
acknowledge();
// Who is killed says nothing more: so what is counted is told every now and then, when it is new.
let countsTold = '';
function tellCounts() {
  if (batchesOut < BATCHES_OUT_MAX) tellSkipped();
  if (!points.size) return;
  const counts = tally();
  const text = JSON.stringify(counts);
  if (text === countsTold) return;
  countsTold = text;
  send({ type: 'counts', tally: counts });
}

setInterval(() => { refill(0.01); sendAll(); widen(); }, 10);
setInterval(tellCounts, 100);
setInterval(askAgain, 20);
setInterval(findOurs, 1000);
setInterval(endAfterLastThread, 100);
let isReady = false;
Process.attachModuleObserver({
  onAdded(module) {
    const { name, path, base, size } = module;
    asOurs(() => noteUnwinder(module));
    if (!isReady) return;
    asOurs(() => {
      tell({ type: 'module', name, path, base, size });
      if (HOLDS_MODULES) pause('module', null, { base });
    });
  },
  onRemoved({ base, size }) {
    asOurs(() => {
      forgetSites({ start: base, end: base.add(size) });
      tell({ type: 'unmapped', base, size });
    });
  },
});
isReady = true;
send({ type: 'ready', abort: exported('abort') });
