// Sites: which points an address has, whether one of them is due, and what it does.
'use strict';

const STUB_RECORD = 0x20000;
const sites = [];
const siteAt = new Map();
const points = new Map();

const recordOf = (site) => site.stub.add(STUB_RECORD);
const threadsIn = (site) => recordOf(site).add(32).readS32();

function makeSite(order, code) {
  const site = { address: ptr(order.address), at: Number(order.address), stub: ptr(order.stub), original: unhex(order.original),
    jump: order.jump, wide: order.wide, slot: ptr(order.slot), wideSlot: ptr(order.wideSlot),
    index: sites.length, points: [], asks: null, armed: false, muted: false, isWide: false };
  site.stub.writeByteArray(code);
  recordOf(site).add(24).writeU64(site.index);
  site.isShared = mayBeOurs(site.address);
  site.ours = site.isShared ? (isExported(site.address) ? CALLER_KNOWN : 1) : 0;
  countIn(site, null);
  goOnIn(site, site.slot);
  enterTable(site);
  sites.push(site);
  siteAt.set(order.address, site);
}

// Frida calls functions of libraries, and what the program has put in their place.
const TAKES_PLACE = ['malloc', 'free', 'read', 'write', 'memcpy'].some(
  (name) => Process.mainModule.findExportByName(name) !== null);
function mayBeOurs(address) {
  if (TAKES_PLACE) return true;
  const { base, size } = Process.mainModule;
  return address.compare(base) < 0 || address.compare(base.add(size)) >= 0;
}

const exportsOf = new Map(); // path of a module to the addresses of what it exports
function isExported(address) {
  const module = Process.findModuleByAddress(address);
  if (module === null) return false;
  const { path } = module;
  if (!exportsOf.has(path)) {
    exportsOf.set(path, new Set(module.enumerateExports().map((one) => one.address.toString())));
  }
  return exportsOf.get(path).has(address.toString());
}

function enterTable(site) {
  const hash = BigInt.asUintN(64, BigInt(site.address.toString()) * 0x9E3779B97F4A7C15n) >> 40n;
  for (let i = 0; i < TABLE_SLOTS; i++) {
    const entry = TABLE.add(64 + ((Number(hash) + i) & (TABLE_SLOTS - 1)) * 16);
    const taken = entry.readPointer();
    if (!taken.isNull() && !taken.equals(site.address)) continue; // else of code that was unmapped
    entry.add(8).writePointer(site.stub);
    entry.writePointer(site.address);
    return;
  }
  throw new Error('too many addresses');
}

// Sites go with the code that was unmapped: what is mapped there next is another's. A hit count of
// several places stays, for the code may be loaded again.
function forgetSites(range) {
  for (const site of [...siteAt.values()]) {
    if (!isIn(site.address, range)) continue;
    siteAt.delete(site.address.toString());
    wideSites.delete(site);
    for (const [id, one] of traced) if (one.site === site) traced.delete(id);
    for (const { id, group, count } of site.points) {
      points.delete(id);
      if (group) count.points--;
    }
    Object.assign(site, { points: [], armed: false, isWide: false, traced: false });
  }
}

// The first byte alone decides whether a thread comes to the stub, so it is the last to be
// written.
let patches = null; // site to its new bytes, while they are collected
function patch(site, bytes) {
  if (patches !== null) patches.set(site, bytes);
  else patchAll([[site, bytes]]);
}

function patchAll(all) {
  // A jump takes five bytes, and other cores may fetch them one by one: first 0xCC at byte 0,
  // so that nobody runs a half-written jump; then bytes 1 to 4; then E9. In between every
  // core is synchronised.
  const groups = grouped(all);
  const hasJumps = all.some(([site]) => site.jump);
  if (hasJumps) {
    const jumps = groups.filter(({ patches: own }) => own.some(([site]) => site.jump));
    for (const group of jumps) rewrite(group, ([site], put) => { if (site.jump) put(0, [0xcc]); });
    syncCores();
    for (const group of jumps) {
      rewrite(group, ([site, bytes], put) => { if (site.jump) put(1, bytes.slice(1)); });
    }
    syncCores();
  }
  for (const group of groups) rewrite(group, ([, bytes], put) => put(0, bytes.slice(0, 1)));
}

// Each write is a system call, which would take most of a step's time, so near patches are
// written together; nobody else writes to code meanwhile.
const NEAR = 256;
const GROUP_MAX = 4096;
function grouped(all) {
  const groups = [];
  let last = null;
  for (const one of all.sort(([some], [other]) => some.at - other.at)) {
    const [site] = one;
    const end = site.at + site.original.length;
    if (last === null || site.at - last.end > NEAR || end - last.start > GROUP_MAX) {
      last = { start: site.at, end, address: site.address, patches: [] };
      groups.push(last);
    }
    last.end = Math.max(last.end, end);
    last.patches.push(one);
  }
  for (const group of groups) group.code = new Uint8Array(readBytes(group.address, group.end - group.start));
  return groups;
}

function rewrite({ start, address, code, patches: own }, change) {
  for (const one of own) change(one, (offset, bytes) => code.set(bytes, one[0].at - start + offset));
  if (writeBytes(address, code) !== code.length) throw new Error(`the code at ${address} cannot be written`);
}

// All cores are waited for once, not once for each.
function together(work) {
  patches = new Map();
  try {
    return work();
  } finally {
    const all = [...patches];
    patches = null;
    patchAll(all);
  }
}

function arm(site) {
  if (site.armed) return;
  site.armed = true;
  for (const other of wideSites) {
    if (other !== site && isWithin(site, other)) narrow(other);
  }
  patch(site, site.jump ? jumpTo(site) : [0xcc]);
}

function jumpTo(site) {
  const way = site.stub.sub(site.address.add(5)).toInt32();
  return [0xe9, way & 255, way >> 8 & 255, way >> 16 & 255, way >> 24 & 255];
}

function disarm(site) {
  if (!site.armed) return;
  site.armed = false;
  narrow(site);
  patch(site, site.original);
}

function settle(site) {
  for (const { count } of site.points) unmute(count);
  site.alone = countsAlone(site);
  site.asks = asksOnly(site);
  choosePredicate(site);
  const [first] = site.points;
  const isOneThread = first && first.thread && site.points.every((one) => one.thread === first.thread);
  recordOf(site).add(36).writeU32(isOneThread ? first.thread : 0);
  countIn(site, first && site.alone ? first : null);
  if (first) arm(site);
  else if (!site.traced) disarm(site);
}

// Whoever is between two of these writes at worst saves the vector registers for nothing.
function choosePredicate(site) {
  const record = recordOf(site);
  const point = site.points.length === 1 ? site.points[0] : {};
  for (const one of site.points) if (one.machine) tellMachine(one);
  record.add(40).writeU32(0);
  record.add(16).writePointer(point.machine ? logger.enter : point.predicate || NULL);
  if (point.machine ? point.machine.isPlain : point.isPlain) record.add(40).writeU32(1);
}

// Tells whether code keeps to general registers, on all its branches: the vector registers
// then need no saving.
const CODE_MAX = 2000;
function isPlain(begin) {
  const waiting = [begin];
  const looked = new Set();
  while (waiting.length) {
    let at = waiting.pop();
    while (!looked.has(at.toString())) {
      looked.add(at.toString());
      if (looked.size > CODE_MAX) return false;
      const one = Instruction.parse(at);
      const text = `${one.mnemonic} ${one.opStr}`;
      if (/\b([xyz]?mm\d|st\b|st\(|k\d)|^(f|v|emms|rep)/.test(text)) return false;
      if (one.mnemonic === 'ret') break;
      if (one.mnemonic === 'call' || one.mnemonic[0] === 'j') {
        if (!/^0x[0-9a-f]+$/.test(one.opStr)) return false;
        waiting.push(ptr(one.opStr));
        if (one.mnemonic === 'jmp') break;
      }
      at = one.next;
    }
  }
  return true;
}

// Most hits of a JavaScript condition need nothing but its answer: this is the short way for
// them.
function asksOnly(site) {
  const [point] = site.points;
  if (site.points.length !== 1 || site.isShared || point.thread || point.predicate) return null;
  return point.condition || null;
}

// What is compiled once stays compiled: the source gives a function of the registers.
function madeOf(source) {
  const made = new Function(`return (${source});`)();
  if (typeof made !== 'function') throw new Error('this is no function of the registers');
  return made;
}

// Who called is known where a function begins, and elsewhere by what the file says of the stack.
const CALLER_KNOWN = 2;
const CALLER_BY_RBP = 8;
function noteCaller(site, caller) {
  if (!caller || site.ours !== 1) return;
  const [register, above] = caller;
  recordOf(site).add(76).writeU32(above);
  site.ours = CALLER_KNOWN | (register === 'rbp' ? CALLER_BY_RBP : 0);
}

// Kept for ever: a thread may be in the code when the point is removed.
function compiled(source) {
  const module = new CModule(source);
  kept.push(module);
  noteCompiled(module.predicate || module.values);
  return module;
}

function addPoint(order) {
  const site = siteAt.get(order.address);
  noteAlone(site);
  noteCaller(site, order.caller);
  const budget = Math.max(order.rate, order.burst || 0);
  const point = { ...order, site, budget, machine: null };
  point.count = countOf(point);
  if (order.condition) point.condition = madeOf(order.condition);
  if (order.log) point.log = madeOf(order.log);
  if (order.native) {
    point.predicate = compiled(order.native).predicate;
    point.isPlain = isPlain(point.predicate);
    point.ask = new NativeFunction(point.predicate, 'int', ['pointer']);
  }
  if (mayLogInMachine(point)) logInMachine(point);
  points.set(order.id, point);
  site.points.push(point);
  rebase(site);
  settle(site);
}

function removePoint(id) {
  const point = points.get(id);
  if (point === undefined) return;
  const { site } = point;
  noteAlone(site);
  points.delete(id);
  forgetCount(point);
  site.points = site.points.filter((one) => one !== point);
  rebase(site);
  settle(site);
}

// A negative answer of machine code means that a value was not readable: JavaScript then
// evaluates the condition again, and reports the reason.
function isWanted(point, view) {
  try {
    const told = point.ask ? point.ask(view.frame) : -1;
    if (told >= 0) return told !== 0;
    if (point.condition) return point.condition(view);
    if (!point.ask) return true;
    throw new Error(`the condition cannot be told: ${told}`);
  } catch (error) {
    noteFailure(point, error);
    return false;
  }
}

function noteFailure(point, error) {
  note(point.id, Process.getCurrentThreadId(), null, String(error));
}

function record(point, view, thread, hits) {
  if (point.rate) {
    if (budgetOf(point) <= 0) { mute(point); return; }
    spend(point);
  }
  let values;
  try {
    values = point.log(view);
  } catch (error) {
    note(point.id, thread, null, String(error));
    point.count.logged++;
    return;
  }
  if (note(point.id, thread, hits, values)) point.count.logged++;
}

// This runs for every hit that a stub does not settle itself: what is not needed is not asked for.
function hit(frame, index, which) {
  const site = sites[index];
  const { asks } = site;
  const view = new FrameView(frame, site);
  if (asks === null) return tellHit(view, which, false);
  try {
    if (!asks(view)) return 0;
  } catch (error) {
    noteFailure(site.points[0], error);
    return 0;
  }
  return tellHit(view, which, true);
}

function tellHit(view, which, holds) {
  const { frame, site } = view;
  let thread = 0;
  let stops = null;
  if (site.isShared && isFridas(thread = Process.getCurrentThreadId(), view)) {
    if (site.alone) site.points[0].count.base++;
    return 0;
  }
  for (const point of site.points) {
    if (point.thread && point.thread !== (thread || (thread = Process.getCurrentThreadId()))) continue;
    if (!holds && !isWanted(point, view)) continue;
    const hits = numberOf(point, which);
    if (!isDue(point, hits)) continue;
    if (site.alone && point.every > 1) wake(point.count.at, which + point.every);
    if (point.log) record(point, view, thread || (thread = Process.getCurrentThreadId()), hits);
    if (point.pauses) (stops || (stops = [])).push({ point, hits });
  }
  if (stops === null) return 0;
  stopping.set(frame.toString(), stops);
  return 1;
}

const stopping = new Map(); // frame to the points that stop there, and which hits of theirs these are
function stop(frame, site) {
  const view = new FrameView(frame, site);
  const stops = stopping.get(frame.toString()) || [];
  stopping.delete(frame.toString());
  for (const { point } of stops) if (point.temporary) removePoint(point.id);
  const told = stops.filter(({ point }) => point !== aborting);
  if (told.length) pause('breakpoint', view, { ids: told.map(({ point }) => point.id), hits: told[0].hits });
  if (told.length < stops.length) pause('crash', view, { signal: 6, code: -6 });
  if (!stops.length && wanted.has(Process.getCurrentThreadId())) pause('pause', view, {});
}

// Frida leaves the program at the beginning of `abort`: the signal itself would come too late.
let aborting = null;
function catchAbort(address) {
  addPoint({ id: '', address, pauses: true, ignore: 0, every: 1, rate: 0 });
  aborting = points.get('');
  points.delete('');
}
