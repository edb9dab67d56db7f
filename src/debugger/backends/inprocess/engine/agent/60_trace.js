// Calls and returns of whole functions, written to a ring by machine code and drained in batches.
'use strict';

const RING = 1 << 17;
const RECORD = 136;
const RETURNS = 256 * 512 * 8; // from a trampoline to the address that it stands for
const ENTRY = 32;
const FUNCTION = 32;
const FUNCTIONS_PAGE = 1024;
const DRAIN_MAX = 4096;
const traced = new Map(); // id to its site and what machine code knows of it
let tracer = null;

// A call that is under way at a detach returns there still, so this is never unmapped: the next
// attach that traces goes on with it.
const TRACER_SIZE = 4 * PAGE + RETURNS * 2 + (RETURNS / 8) * ENTRY + RING * RECORD;
const traceCode = (memory) => placed(MACHINE.trace, [[OF_TABLE, memory.add(PAGE)]]);

function makeTracer() {
  const isTaken = !earlier.tracer.isNull()
    && hex(new Uint8Array(readBytes(earlier.tracer, MACHINE.trace.length / 2))) === hex(traceCode(earlier.tracer));
  const memory = isTaken ? earlier.tracer : mmap(NULL, TRACER_SIZE, 7, 0x4022, -1, 0);
  if (memory.equals(ptr(-1))) throw new Error('no memory to trace with');
  noteOwnCode(memory, TRACER_SIZE);
  const state = memory.add(PAGE);
  const blocks = memory.add(2 * PAGE);
  const ways = memory.add(4 * PAGE);
  const entries = ways.add(RETURNS * 2);
  const made = { state, ways, claimed: state.add(184), drained: state.add(312), dropped: state.add(440),
    ring: entries.add((RETURNS / 8) * ENTRY), told: 0, free: [], memory, rules: null };
  if (isTaken) takeOver(made, entries);
  else memory.writeByteArray(traceCode(memory));
  const words = [made.ring, CLOCK_CODE, ways, entries, blocks, memory.add(16)];
  words.forEach((word, i) => state.add(i * 8).writePointer(word));
  made.count = new NativeFunction(memory.add(32), 'uint', ['pointer', 'uint'], AT_ONCE);
  made.enter = memory;
  return made;
}

// Nobody writes to it yet, for it is not on. Returns of calls that were traced before say nothing.
function takeOver(made, entries) {
  made.drained.writeU32(made.claimed.readU32());
  made.told = made.dropped.readU32();
  made.rules = earlier.rules;
  const words = new BigUint64Array(entries.readByteArray((RETURNS / 8) * ENTRY));
  for (let i = 0; i < words.length; i += ENTRY / 8) {
    if (words[i]) entries.add(i * 8 + 16).writePointer(NULL);
  }
}

// An unwinder that comes to a trampoline's address must find the caller's, which lies RETURNS
// above. The trampoline's frame is one word lower than its caller's, because unwinders tell
// frames apart by that.
function unwindRules() {
  const bytes = [];
  const put = (size, value) => {
    let left = BigInt(value.toString());
    for (let i = 0; i < size; i++) { bytes.push(Number(left & 255n)); left >>= 8n; }
  };
  put(4, 36); put(4, 0);
  bytes.push(1, 0x7a, 0x52, 0, 1, 0x78, 16, 1, 0); // version, "zR", alignments, rip, absolute
  bytes.push(0x12, 7, 1, 0x15, 7, 0x7f); // frame: rsp - 8; rsp: frame + 8
  bytes.push(0x10, 16, 6, 0x80, 0, 0x23, 0x80, 0x80, 0x40); // rip: at rip + RETURNS
  while (bytes.length < 40) bytes.push(0);
  put(4, 28); put(4, bytes.length);
  put(8, tracer.ways.sub(8)); put(8, RETURNS);
  while (bytes.length < 72) bytes.push(0);
  put(4, 0);
  return bytes;
}

const unwinders = new Set();
function tellUnwinder(register) {
  if (register === null || unwinders.has(register.toString())) return;
  unwinders.add(register.toString());
  if (tracer.rules === null) {
    tracer.rules = mmap(NULL, PAGE, 3, 0x22, -1, 0);
    tracer.rules.writeByteArray(unwindRules());
  }
  new NativeFunction(register, 'void', ['pointer'])(tracer.rules);
}

const registers = []; // where the unwinders of libraries take rules
function noteUnwinder(module) {
  if (!module.name.startsWith('libgcc_s')) return;
  const register = module.findExportByName('__register_frame');
  registers.push(register);
  if (tracer !== null) tellUnwinder(register);
}

function functionRoom() {
  if (!tracer.free.length) {
    const page = mapLasting(NULL, FUNCTIONS_PAGE * FUNCTION, 3, 0x22);
    for (let i = FUNCTIONS_PAGE; i--;) tracer.free.push(page.add(i * FUNCTION));
  }
  return tracer.free.pop();
}

function traceAdd(orders, rate) {
  if (tracer === null) {
    tracer = makeTracer();
    const linked = Process.mainModule.findSymbolByName('__register_frame');
    tellUnwinder(linked);
    registers.forEach(tellUnwinder);
  }
  tracer.state.add(56).writeU32(rate);
  tracer.state.add(48).writeU32(1);
  for (const order of orders) {
    const site = siteAt.get(order.address);
    if (traced.has(order.id) || site.traced) continue;
    const place = functionRoom();
    place.writeByteArray(new Array(FUNCTION).fill(0));
    place.add(12).writeU32(order.id);
    place.add(16).writeU32(order.texts);
    const record = recordOf(site);
    record.add(48).writePointer(tracer.enter);
    record.add(56).writePointer(place);
    record.add(44).writeU32(1);
    site.traced = true;
    if (!site.points.length) wakeAt(site, NEVER);
    traced.set(order.id, { site, place });
    arm(site);
    widenSoon(site);
  }
  return { ways: tracer.ways, size: RETURNS };
}

function traceRemove(ids) {
  for (const id of ids) {
    const one = traced.get(id);
    if (one === undefined) continue;
    traced.delete(id);
    recordOf(one.site).add(44).writeU32(0);
    one.site.traced = false;
    if (!one.site.points.length) disarm(one.site);
    // Its room is never given to another: a call that is under way may still speak of it.
  }
}

// Calls that were more in a moment than the rate allows, by function.
function skipped() {
  const found = {};
  for (const [id, { place }] of traced) {
    const count = place.add(8).readU32();
    if (count) found[id] = count;
  }
  return found;
}

// A record that was claimed and is not ready yet ends the drain: the next one begins with it.
function drain(must) {
  if (tracer === null) return false;
  tracer.state.add(52).writeU32(Math.floor(microseconds() / 1e6)); // the second that a rate is of
  if (batchesOut >= BATCHES_OUT_MAX && !must) return false;
  const first = tracer.drained.readU32();
  const at = first & (RING - 1);
  const dropped = tracer.dropped.readU32();
  const ready = tracer.count(tracer.state, Math.min(RING - at, DRAIN_MAX));
  if (!ready && dropped === tracer.told) return false;
  const bytes = tracer.ring.add(at * RECORD).readByteArray(ready * RECORD);
  tracer.drained.writeU32((first + ready) >>> 0);
  sendCalls((dropped - tracer.told) >>> 0, bytes);
  tracer.told = dropped;
  return ready > 0;
}

// How many were skipped is told as records, too, for at the end nobody can ask any more.
const SKIPPED = 3;
const skippedTold = {}; // id to the count
function tellSkipped() {
  const fresh = Object.entries(skipped()).filter(([id, count]) => skippedTold[id] !== count);
  if (!fresh.length) return;
  const bytes = new ArrayBuffer(fresh.length * RECORD);
  const view = new DataView(bytes);
  fresh.forEach(([id, count], i) => {
    skippedTold[id] = count;
    view.setUint32(i * RECORD + 4, Number(id), true);
    view.setUint32(i * RECORD + 12, SKIPPED, true);
    view.setUint32(i * RECORD + 24, count, true);
  });
  sendCalls(0, bytes);
}

function drainAll(must) {
  if (must) tellSkipped();
  for (let i = 0; i <= RING / DRAIN_MAX + 1 && drain(must); i++);
}
