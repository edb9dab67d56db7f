// A thread that waits: it says why, does what it is told, and goes on; or goes on when nobody is left.
'use strict';

const paused = new Map(); // thread id to the view of its registers
const wanted = new Map(); // thread id to its system call, when it was asked to pause in one

function pause(reason, view, more) {
  const thread = Process.getCurrentThreadId();
  paused.set(thread, view);
  tell({ type: 'paused', reason, thread, registers: registersOf(view), vectors: view && view.vectors,
    ...more });
  let goesOn = false;
  while (!goesOn) {
    let order = { op: 'resume' };
    recv(`thread-${thread}`, (message) => { order = message; }).wait();
    if (order.op === 'resume') goesOn = true;
    else answer(order, () => callHere(thread, order));
  }
  paused.delete(thread);
}

function callHere(thread, order) {
  const called = new NativeFunction(ptr(order.address), order.returns, order.takes,
    { exceptions: 'steal' });
  const values = order.values.map((value, i) => converted(value, order.takes[i]));
  setBusy(thread, 1);
  try {
    return { value: String(called(...values)) };
  } finally {
    setBusy(thread, -1);
  }
}

function converted(value, type) {
  if (type === 'pointer') return ptr(value);
  if (type === 'int64') return int64(value);
  if (type === 'uint64') return uint64(value);
  return Number(value);
}

function viewOf(thread) {
  const view = paused.get(thread);
  if (view === undefined) throw new Error(`thread ${thread} is not paused`);
  return view;
}

function threadsNow() {
  const directory = openFile(Memory.allocUtf8String('/proc/self/task'), 0x90000, 0);
  const buffer = Memory.alloc(PAGE);
  const found = [];
  for (;;) {
    const got = ask(217, directory, buffer, PAGE);
    if (got <= 0) break;
    for (let at = 0; at < got;) {
      const entry = buffer.add(at);
      const name = entry.add(19).readUtf8String();
      if (/^\d+$/.test(name)) found.push(Number(name));
      at += entry.add(16).readU16();
    }
  }
  ask(3, directory);
  return found;
}

const threadFile = (thread, name) => {
  try {
    return File.readAllText(`/proc/self/task/${thread}/${name}`).trim();
  } catch (error) {
    return '';
  }
};
// Frida hides its own threads, and gives them the program's name.
const isOurs = (thread) => Cloak.hasThread(thread);

function askToPause(thread) {
  if (paused.has(thread) || wanted.has(thread)) return false;
  wanted.set(thread, threadFile(thread, 'syscall').split(' '));
  if (ask(234, Process.id, thread, 5) !== 0) {
    wanted.delete(thread);
    throw new Error(`there is no thread ${thread}`);
  }
  return true;
}

// A wait that our signal has cut short begins anew, instead of failing with EINTR.
function restartCall(view, [number, ...rest]) {
  const stopped = rest[rest.length - 1];
  if (stopped !== undefined && view.rip.equals(ptr(stopped)) && view.rax.equals(ptr(-4))
      && hex(new Uint8Array(readBytes(view.rip.sub(2), 2))) === '0f05') {
    view.set('rax', number);
    view.set('rip', view.rip.sub(2));
  }
}
