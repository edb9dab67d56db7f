// A jump over several short instructions is laid when no thread is in them any more: until then an
// int3 does, and those that come go on behind them.
'use strict';

const goOnIn = (site, slot) => { recordOf(site).add(64).writePointer(slot); };
const wideSites = new Set(); // those that wait to be wide, and those that are
let waiting = null; // the sites that wait, and the threads that may still be in them
const RAN_NS = 1e6; // whoever has run for so long since has left

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

// Where a thread stands that does not run, by what it waits for; null is not known.
function standsAt(thread) {
  const view = paused.get(thread);
  if (view) return view.rip;
  const words = threadFile(thread, 'syscall').split(' ');
  return words.length < 9 ? null : ptr(words[8]);
}

function widen() {
  if (waiting === null) {
    const narrowOnes = [...wideSites].filter((site) => !site.isWide);
    if (!narrowOnes.length) return;
    const threads = new Map(threadsOfProgram().map((thread) => [thread, ranFor(thread)]));
    waiting = { sites: narrowOnes, threads };
  }
  for (const [thread, before] of waiting.threads) {
    const now = ranFor(thread);
    const at = standsAt(thread);
    const isOut = at !== null && !waiting.sites.some((site) => at.compare(site.address) > 0
      && at.compare(site.address.add(site.wide)) < 0);
    const isGone = now === null && threadFile(thread, 'comm') === '';
    if (isGone || isOut || (now !== null && now - before > RAN_NS)) waiting.threads.delete(thread);
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
