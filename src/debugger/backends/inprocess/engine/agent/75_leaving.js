// A detach: the program goes on without the agent, whatever its threads do meanwhile.
'use strict';

// Frida hooks the program's exit, and a thread that comes there while Frida is being unloaded
// waits for ever, or returns to unmapped memory. So the code there is restored from its file
// first.
function freeExits() {
  const regions = regionsNow();
  for (const name of ['exit', '_exit', 'abort']) {
    const at = exported(name);
    const region = regions.find((one) => isIn(at, one));
    if (region === undefined || !region.path) continue;
    const bytes = fileBytes(region.path, at.sub(region.start).add(region.offset), 16);
    if (bytes.length === 16 && hex(bytes) !== hex(new Uint8Array(readBytes(at, 16)))) writeBytes(at, bytes);
  }
}

function fileBytes(path, offset, count) {
  const descriptor = openFile(Memory.allocUtf8String(path), 0x80000, 0);
  if (descriptor < 0) return [];
  const buffer = Memory.alloc(count);
  const got = pread(descriptor, buffer, count, int64(offset.toString())).toNumber();
  ask(3, descriptor);
  return Array.from(new Uint8Array(buffer.readByteArray(Math.max(got, 0))));
}

// Frida unloads the agent whoever is still in it. A thread that has left runs none of our
// code any more and cannot report it, so all are looked at, for a bounded time.
function idle() {
  const limit = microseconds() + 2e6;
  return new Promise((resolve, reject) => {
    const look = () => {
      if (isLeft()) { sendAll(true); giveBack(); resolve(null); }
      else if (microseconds() > limit) reject(new Error('a thread does not leave the agent'));
      else setTimeout(look, 1);
    };
    look();
  });
}

// What a thread may still come to stays mapped: stubs, handlers, trampolines and their entries. The
// rings are empty by now, and nobody writes to them any more.
const DONT_NEED = 4;
function giveBack() {
  if (tracer !== null) ask(28, tracer.ring, RING * RECORD, DONT_NEED);
  if (logger !== null) ask(28, logger.ring, LOGS * LOG_RECORD, DONT_NEED);
  listMappings();
  closeOwnMemory();
}

function isLeft() {
  if (sites.some((site) => threadsIn(site) !== 0)) return false;
  if (threadsOfProgram().some(hasPendingTrap)) return false;
  return threadsOfProgram().every((thread) => !isBusy(thread)) && threadsInFrida().length === 0;
}

// With Frida goes the handler of SIGTRAP. A thread that met an int3 of ours, and has not had a
// processor since, would die of it.
const PENDING_TRAP = 0x10n;
const hasPendingTrap = (thread) => {
  const found = /^SigPnd:\s*(\w+)/m.exec(threadFile(thread, 'status'));
  return found !== null && (BigInt(`0x${found[1]}`) & PENDING_TRAP) !== 0n;
};

const threadsOfProgram = () => threadsNow().filter((thread) => !isOurs(thread));

// The threads that wait in Frida's own code.
function threadsInFrida() {
  const agent = agentRegions();
  return threadsOfProgram().filter((thread) => {
    const [at] = standsAt(thread) || [NULL];
    return agent.some((one) => isIn(at, one));
  });
}

// A thread that ends the program may wait for Frida in its exit, and a host that is killed at that
// moment has Frida unload itself at once: its code would be gone before the thread has left it.
// That needs this thread of JavaScript, so it is taken until the others are out, for a bounded time.
// Who stands at a breakpoint is in code of ours, and goes on when the script is unloaded.
function awaitExits() {
  const limit = microseconds() + 2e6;
  const free = threadsOfProgram().filter((thread) => !isBusy(thread));
  const inside = new Map(free.map((thread) => [thread, ranFor(thread)]));
  for (;;) {
    for (const [thread, before] of [...inside]) if (hasLeftFrida(thread, before)) inside.delete(thread);
    if (!inside.size || microseconds() > limit) return;
    ask(35, MOMENT, NULL);
  }
}

// Who runs is seen nowhere, and a system call that Frida makes by a library returns to it.
const RAN_OUTSIDE_NS = 20e6;
const CALLER_WORDS = 16;
function hasLeftFrida(thread, before) {
  const now = ranFor(thread);
  if (now === null) return threadFile(thread, 'comm') === ''; // it has ended
  const stands = standsAt(thread);
  if (stands === null) return now - before > RAN_OUTSIDE_NS;
  if (isIn(stands[0], AGENT)) return false;
  const [low, high] = [AGENT.start, AGENT.end].map((at) => BigInt(at.toString()));
  return !stackWords(stands[1], CALLER_WORDS).some((word) => word >= low && word < high);
}

// Who is killed remains in the list until somebody has asked for his status, and before that his
// connection is closed while he is still on his way out (PF_EXITING; proc_pid_stat(5)).
const EXITING = 4;
function isHostThere() {
  try {
    const [state, , , , , , flags] = File.readAllText(`/proc/${HOST}/stat`).split(') ').pop().split(' ');
    return state !== 'Z' && state !== 'X' && !(Number(flags) & EXITING);
  } catch (error) {
    return false;
  }
}
