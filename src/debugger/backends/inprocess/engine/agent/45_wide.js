// A jump over several short instructions is laid when no thread is in them any more: until then an
// int3 does, and those that come go on behind them.
'use strict';

const goOnIn = (site, slot) => { recordOf(site).add(64).writePointer(slot); };
const wideSites = new Set(); // those that wait to be wide, and those that are
let waiting = null; // the sites that wait, and the threads that may still be in them
const RAN_NS = 2e7; // whoever has run for so long has left; the system counts in steps of 10 ms at most
const RAN_WITH_HANDLERS_NS = 1e8; // unless a handler of the program's has run meanwhile
const OUR_SIGNALS = 0x40000001c00004f8n; // and Frida's and libc's
const STACK_WORDS = 8192;

const isWithin = (site, other) => site.address.compare(other.address) > 0
  && site.address.compare(other.address.add(other.wide)) < 0;

function widenSoon(site) {
  if (!site.wide || site.isWide || wideSites.has(site)) return;
  if (sites.some((other) => other.armed && isWithin(other, site))) return;
  goOnIn(site, site.wideSlot);
  wideSites.add(site);
}

function ranFor(thread) {
  const words = threadFile(thread, 'schedstat').split(' ');
  return words.length < 2 ? null : Number(words[0]);
}

function hasHandlers() {
  const [, caught] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(File.readAllText('/proc/self/status')) || [];
  return caught === undefined || (BigInt(`0x${caught}`) & ~OUR_SIGNALS) !== 0n;
}

const isAmong = (at) => waiting.sites.some((site) => at.compare(site.address) > 0
  && at.compare(site.address.add(site.wide)) < 0);

// Tells whether a thread has left the instructions that give way. A signal may have
// interrupted it there, and its handler may return to them after any time: our own handlers
// are known (BUSY_BY_SIGNAL), for the program's the stack is searched.
function hasLeft(thread, before) {
  const view = paused.get(thread);
  if (view) return !isAmong(view.rip) && !isOwnCode(view.rip);
  if (BUSY.add(thread).readU8() & BUSY_BY_SIGNAL) return false;
  const now = ranFor(thread);
  if (now === null) return threadFile(thread, 'comm') === '';
  if (before === null) {
    waiting.threads.set(thread, now);
    return false;
  }
  if (now - before > (waiting.hasHandlers ? RAN_WITH_HANDLERS_NS : RAN_NS)) return true;
  const stands = standsAt(thread);
  if (stands === null || isAmong(stands[0])) return false;
  return !waiting.hasHandlers || !isOnStack(stands[1]);
}

// What a thread has run in a handler of ours it has not run where the signal came.
function wasInterrupted(thread) {
  if (waiting !== null && waiting.threads.has(thread)) waiting.threads.set(thread, null);
  if (earlier.threads.has(thread)) earlier.threads.set(thread, null);
}

function isOnStack(pointer) {
  return stackWords(pointer, STACK_WORDS).some((word) => word >= waiting.lowest && word < waiting.highest
    && isAmong(ptr(word.toString())));
}

function widen() {
  if (waiting === null) {
    const narrowOnes = [...wideSites].filter((site) => !site.isWide);
    if (!narrowOnes.length) return;
    const threads = new Map(threadsOfProgram().map((thread) => [thread, ranFor(thread)]));
    waiting = { sites: narrowOnes, threads, hasHandlers: hasHandlers(),
      lowest: BigInt(narrowOnes.reduce((least, { at }) => Math.min(least, at), Infinity)),
      highest: BigInt(narrowOnes.reduce((most, { at, wide }) => Math.max(most, at + wide), 0)) };
  }
  for (const [thread, before] of waiting.threads) {
    if (hasLeft(thread, before)) waiting.threads.delete(thread);
  }
  if (waiting.threads.size) return;
  for (const site of waiting.sites) {
    if (!wideSites.has(site) || !site.armed) continue;
    site.isWide = true;
    const way = jumpTo(site);
    writeBytes(site.address.add(1), way.slice(1));
  }
  syncCores();
  for (const site of waiting.sites) if (site.isWide) writeBytes(site.address, [0xe9]);
  waiting = null;
}

// Until the code behind the first instruction is itself again, who goes on must go on behind it all.
function narrow(site) {
  wideSites.delete(site);
  if (site.isWide) {
    site.isWide = false;
    writeBytes(site.address, [0xcc]);
    syncCores();
    writeBytes(site.address.add(1), site.original.slice(1));
    syncCores();
  }
  goOnIn(site, site.slot);
}
