// A paused thread reports why, carries out orders, and goes on when it is resumed or the host
// has died: recv().wait() then returns without a message, and the order stays 'resume'.
'use strict';

const paused = new Map(); // thread id to the view of its registers
const going = new Set(); // those of them that have been told to go on
const wanted = new Map(); // thread id to its system call, when it was asked to pause in one

const pause = (reason, view, more) => asOurs((thread) => {
  if (view !== null) wanted.delete(thread);
  paused.set(thread, view);
  tell({ type: 'paused', reason, thread, vectors: view && view.vectors,
    registers: { ...registersOf(view), fs_base: threadPointer() }, ...more });
  let goesOn = false;
  while (!goesOn) {
    let order = { op: 'resume' };
    recv(`thread-${thread}`, (message) => {
      order = message;
      if (order.op === 'resume') going.add(thread);
    }).wait();
    if (order.op === 'resume') goesOn = true;
    else answer(order, () => callHere(thread, order));
  }
  paused.delete(thread);
  going.delete(thread);
});

function callHere(thread, order) {
  const called = new NativeFunction(ptr(order.address), order.returns, order.takes,
    { exceptions: 'steal' });
  const values = order.values.map((value, i) => converted(value, order.takes[i]));
  return { value: String(called(...values)) };
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

// Work that a thread of the program does for the agent must not be counted as the program's.
function asOurs(work) {
  const thread = Process.getCurrentThreadId();
  setBusy(thread, 1);
  try {
    work(thread);
  } finally {
    setBusy(thread, -1);
  }
}

const isPaused = (thread) => paused.has(thread) && !going.has(thread);

function threadsNow() {
  // Not Process.enumerateThreads: it hung the agent after 137 to 1589 calls (frida 17.25).
  // getdents64 is 217; a name begins at byte 19 of an entry, its length is at 16.
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
// Where a thread is in a system call, and its stack pointer there; null while it runs
// (proc_pid_syscall(5)).
function standsAt(thread) {
  const words = threadFile(thread, 'syscall').split(' ');
  return words.length < 9 ? null : [ptr(words[8]), ptr(words[7])];
}
// Frida hides its own threads, and gives them the program's name.
const isOurs = (thread) => Cloak.hasThread(thread);

const PAUSE = 63; // the signal; trap.c says why it is one of its own
const BUSY_BY_SIGNAL = 0x40;
const isBusy = (thread) => (BUSY.add(thread).readU8() & 0x7f) !== 0;

// Frida makes threads when it needs them, and their numbers come back as others'.
const ours = new Set();
const others = new Set();
function findOurs() {
  const now = threadsNow();
  const found = new Set(now.filter(isOurs));
  for (const thread of ours) if (!found.has(thread)) { ours.delete(thread); setBusy(thread, -1); }
  for (const thread of found) if (!ours.has(thread)) { ours.add(thread); setBusy(thread, 1); }
  others.clear();
  for (const thread of now) if (!found.has(thread)) others.add(thread);
}

// Tells whether a thread is one that Frida has made since the last look. At its beginning it
// is not hidden yet, but its new stack shows where it comes from.
const NEW_STACK_WORDS = 512;
function isFridas(thread, view) {
  if (others.has(thread)) return false;
  if (!isOurs(thread)) {
    const [from, to] = [AGENT.start, AGENT.end].map((at) => BigInt(at.toString()));
    if (!stackWords(view.rsp, NEW_STACK_WORDS).some((word) => word >= from && word < to)) {
      others.add(thread);
      return false;
    }
  }
  if (!ours.has(thread)) { ours.add(thread); setBusy(thread, 1); }
  return true;
}

function askToPause(thread) {
  if (isPaused(thread) || wanted.has(thread)) return false;
  if (!interrupt(thread)) throw new Error(`there is no thread ${thread}`);
  return true;
}

// Who is in our code pauses when it leaves: that is seen there, or it is asked again.
function interrupt(thread) {
  const call = threadFile(thread, 'syscall').split(' ');
  if (call.length > 1 || !wanted.has(thread)) wanted.set(thread, call);
  const isThere = ask(234, Process.id, thread, PAUSE) === 0;
  if (!isThere) wanted.delete(thread);
  return isThere;
}

function askSoon(thread) {
  wasInterrupted(thread);
  setTimeout(askAgain, 1);
}

function askAgain() {
  for (const thread of [...wanted.keys()]) if (!isBusy(thread)) interrupt(thread);
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

// A program whose main thread has ended lives on until its last thread ends, and libc then exits.
// Frida's threads would keep it for ever, so once no other is left a new one exits as libc does.
const endingThread = EXPORTS.get('pthread_create') && native('pthread_create', 'int',
  ['pointer', 'pointer', 'pointer', 'pointer']);
// One that a signal of seccomp's has killed would have ended the process by that signal.
const KILL = 62, RT_SIGACTION = 13;
let isEnding = false;
function endAfterLastThread() {
  if (isEnding || !endingThread) return;
  const fields = threadFile(Process.id, 'stat');
  if (!/\) Z /.test(fields)) return;
  if (threadsNow().some((thread) => thread !== Process.id && !isOurs(thread))) return;
  isEnding = true;
  const signal = Number(fields.trim().split(' ').pop()) & 0x7f;
  if (signal) {
    systemCall(RT_SIGACTION, ptr(signal), Memory.alloc(32), NULL, ptr(8), NULL, NULL);
    systemCall(KILL, ptr(Process.id), ptr(signal), NULL, NULL, NULL, NULL);
    return;
  }
  endingThread(Memory.alloc(8), NULL, exported('exit'), NULL);
}
