// Records that machine code writes at logpoints (code/log.c), and their way into the batches.
'use strict';

const LOGS = 1 << 15;
const LOG_RECORD = 128;
const LOGS_MAX = 1024; // of one message
const LOG_TURNS = 20; // of 1 ms, for who is in the middle of a record
const [LOG_ALLOWED, LOG_TAKEN] = [56, 64]; // in what machine code knows of a point
const logNames = []; // of the points, by the numbers that records have
let logNamesTold = 0;
let logger = null;

function makeLogger() {
  const size = 2 * PAGE + LOGS * LOG_RECORD;
  const memory = mapLasting(NULL, size, 7, 0x4022);
  if (memory.equals(ptr(-1))) throw new Error('no memory to log in');
  noteOwnCode(memory, size);
  const state = memory.add(PAGE);
  memory.writeByteArray(unhex(MACHINE.log));
  state.writePointer(memory.add(2 * PAGE));
  state.add(8).writePointer(CLOCK_CODE);
  state.add(16).writeU64(Process.id);
  state.add(32).writePointer(BUSY);
  logger = { enter: memory, state, ring: memory.add(2 * PAGE), claimed: state.add(128), drained: state.add(256),
    dropped: state.add(384), droppedTold: 0,
    ready: new NativeFunction(memory.add(16), 'uint', ['pointer', 'uint'], AT_ONCE) };
}

// Machine code knows nothing of Frida's own threads, of several points, nor of one thread alone.
const mayLogInMachine = ({ site, record, thread, every, pauses, condition, predicate }) => record && !pauses
  && !thread && every === 1 && !site.isShared && (predicate || !condition);

function logInMachine(point) {
  if (logger === null) makeLogger();
  const { values } = compiled(point.record);
  const at = newCount(2 * COUNT_SIZE);
  point.machine = { at, isPlain: isPlain(values), allowed: 0 };
  at.writePointer(logger.state);
  at.add(8).writePointer(values);
  at.add(72).writeU32(logNames.push(point.id) - 1);
  at.add(76).writeU32(point.width);
  if (!point.count.told) point.count.told = newCount(COUNT_SIZE);
  // Machine code counts the hits that a condition lets through in a word of its own.
  if (point.predicate && !point.group) {
    point.count.isApart = true;
    point.count.at = newCount(COUNT_SIZE);
    point.count.base = 0;
  }
  setBudget(point, point.budget);
}

// Tell machine code what changes with the points of a site.
function tellMachine({ site, machine: { at }, count, ignore, pauses }) {
  const isAlone = countsAlone(site);
  at.add(16).writePointer(count.isApart && !isAlone ? count.at : NULL);
  at.add(24).writePointer(count.at.add(8));
  at.add(32).writePointer(count.told);
  at.add(40).writeU64(count.base);
  at.add(48).writeU64(ignore);
  at.add(80).writeU32(isAlone && !pauses ? 1 : 0);
  recordOf(site).add(88).writePointer(at);
}

// How many records a point may still write, and how many there are, whoever writes them.
function budgetOf({ machine, budget }) {
  return machine ? machine.allowed - machine.at.add(LOG_TAKEN).readS64().toNumber() : budget;
}
function setBudget(point, left) {
  const { machine } = point;
  if (!machine) { point.budget = left; return; }
  if (!point.rate) left = 1e15;
  machine.allowed = machine.at.add(LOG_TAKEN).readS64().toNumber() + left;
  machine.at.add(LOG_ALLOWED).writeS64(Math.ceil(machine.allowed));
}
function spend(point) {
  if (point.machine) addOne(point.machine.at.add(LOG_TAKEN));
  else point.budget--;
}
const loggedOf = ({ logged, told }) => logged + (told ? told.readU64().toNumber() : 0);
const isMuted = ({ muted, told }) => muted || (told !== undefined && told.add(8).readU32() !== 0);
function unmute(count) {
  count.muted = false;
  if (count.told) count.told.add(8).writeU32(0);
}

// A thread that has claimed a record and is held up keeps back those that came after it.
function awaitLogs() {
  const before = (logger.claimed.readU32() - logger.drained.readU32()) >>> 0;
  for (let turn = 0; turn < LOG_TURNS && logger.ready(logger.state, before) < before; turn++) ask(35, MOMENT, NULL);
}

// The bytes of the next records, how many there was no room for, and up to which time nothing else
// can have been logged before: for ever, where these are all.
function takeLogs() {
  const first = logger.drained.readU32();
  const at = first & (LOGS - 1);
  const most = Math.min(LOGS - at, LOGS_MAX);
  const dropped = logger.dropped.readU32();
  const count = logger.ready(logger.state, most);
  const isAll = logger.claimed.readU32() === (first + count) >>> 0;
  const taken = { count, bytes: count ? logger.ring.add(at * LOG_RECORD).readByteArray(count * LOG_RECORD) : null,
    goesOn: count === most, until: isAll ? Infinity : logger.state.add(24).readU64().toNumber() / 1e3,
    dropped: (dropped - logger.droppedTold) >>> 0 };
  logger.drained.writeU32((first + count) >>> 0);
  logger.droppedTold = dropped;
  return taken;
}

function namesOfLogs() {
  const names = logNames.slice(logNamesTold);
  logNamesTold = logNames.length;
  return names;
}
