// The agent's base: system calls, the clock, mapped memory, the records that go out.
'use strict';

// Names are looked up when the agent begins and never later: the loader's lock is taken for it, and
// a thread that is held in dlopen has that.
const EXPORTS = new Map(['__errno_location', '_exit', 'abort', 'clock_gettime', 'execve', 'execveat',
  'exit', 'fexecve', 'fork', 'getpid', 'mmap', 'munmap', 'nanosleep', 'open', 'prctl', 'pread',
  'pthread_create', 'pthread_self', 'pthread_sigmask', 'pwrite', 'sigaction', 'sigprocmask', 'syscall',
].map((name) => [name, Module.findGlobalExportByName(name)]));
const exported = (name) => {
  const at = EXPORTS.get(name);
  if (!at) throw new Error(`the program has no ${name}`);
  return at;
};
// None of these waits for anybody, so nobody else's JavaScript runs meanwhile; nor do they fault.
const AT_ONCE = { scheduling: 'exclusive', exceptions: 'propagate' };
const native = (name, returns, takes) => new NativeFunction(exported(name), returns, takes, AT_ONCE);
const systemCall = native('syscall', 'int64',
  ['int64', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'pointer']);
// Pointers, not numbers, as addresses exceed the 53 bits of a Number.
const mmap = native('mmap', 'pointer', ['pointer', 'size_t', 'int', 'int', 'int', 'int64']);
const threadPointer = native('pthread_self', 'pointer', []);
const munmap = native('munmap', 'int', ['pointer', 'size_t']);
const clockGettime = native('clock_gettime', 'int', ['int', 'pointer']);
const openFile = native('open', 'int', ['pointer', 'int', 'int']);
const pread = native('pread', 'int64', ['int', 'pointer', 'size_t', 'int64']);
const pwrite = native('pwrite', 'int64', ['int', 'pointer', 'size_t', 'int64']);

function ask(number, ...words) {
  while (words.length < 6) words.push(0);
  return systemCall(number, ...words.map((word) => ptr(word))).toNumber();
}

// Mappings that stay at a detach, because a thread may be on its way there; a later attach
// unmaps them (77_earlier.js). Never Memory.alloc: it is garbage-collected, and code in it
// crashed programs (17.25).
const mappings = [];
function mapLasting(at, size, protection, flags) {
  const got = mmap(at, size, protection, flags, -1, 0);
  if (!got.equals(ptr(-1))) mappings.push([got, size]);
  return got;
}

const PAGE = 4096;
const GROUND = 0x100000;
const ground = mapLasting(NULL, GROUND, 7, 0x22);
if (ground.equals(ptr(-1))) throw new Error('no memory that may be both written and run');
// The layout of the ground: three hooks of 64 bytes, addOne's code, the handlers' code at
// 0x1000 and 0x2000, the signal restorer, the list for the next attach, the crash table, and
// the table of int3.
const [STOP_HOOK, TRAP_HOOK, CRASH_HOOK] = [0, 64, 128].map((at) => ground.add(at));
const TRAP_OFFSET = 0x1000;
const LIST_OFFSET = 0x4000; // where the mappings are listed at a detach
const TRAP_CODE = ground.add(TRAP_OFFSET);
const CRASH_CODE = ground.add(0x2000);
const RESTORER = ground.add(0x3000);
const CRASH = ground.add(0x5000);
const TABLE = ground.add(0x10000);
const TABLE_SLOTS = 32768;

const isIn = (at, { start, end }) => at.compare(start) >= 0 && at.compare(end) < 0;

function regionOf(line) {
  const found = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ *(.*)$/.exec(line);
  if (found === null) return null;
  const [start, end, offset] = found.slice(1, 4).map((text) => ptr(`0x${text}`));
  return { start, end, offset, path: found[4] };
}

// Process.enumerateRanges leaves Frida's own mappings out: they are read from the kernel.
const regionsNow = () => File.readAllText('/proc/self/maps').split('\n').map(regionOf)
  .filter((one) => one !== null);
const agentRegions = () => regionsNow().filter(({ path }) => path.includes('frida-agent'));
const AGENT = (() => {
  const regions = agentRegions();
  const [{ start }, { end }] = [regions[0], regions[regions.length - 1]];
  return { start, end, size: end.sub(start) };
})();

// A thread that is in code of ours is on its way to code of the program's.
const ownCode = [{ start: ground, end: ground.add(GROUND) }];
const isOwnCode = (at) => ownCode.some((one) => isIn(at, one));
const noteOwnCode = (start, size) => { ownCode.push({ start, end: start.add(size) }); };
function noteCompiled(address) {
  if (!isOwnCode(address)) ownCode.push(regionsNow().find((one) => isIn(address, one)));
}

// A byte for each thread there can be (pid_max is 2^22 at most); only pages that are used take room.
const BUSY = mapLasting(NULL, 1 << 22, 3, 0x4022);
if (BUSY.equals(ptr(-1))) throw new Error('no memory for the threads');

// Reads and writes by /proc/self/mem neither fault nor need a change of the page's
// protection.
let OWN_MEMORY = openFile(Memory.allocUtf8String('/proc/self/mem'), 0x80002, 0);
if (OWN_MEMORY < 0) throw new Error('/proc/self/mem cannot be opened');

// Afterwards nothing is read or written: its number may be the program's own next.
function closeOwnMemory() {
  ask(3, OWN_MEMORY);
  OWN_MEMORY = -1;
}

function readBytes(address, count) {
  const buffer = Memory.alloc(Math.max(count, 1));
  const got = pread(OWN_MEMORY, buffer, count, int64(address.toString())).toNumber();
  return buffer.readByteArray(Math.max(got, 0));
}

function stackWords(pointer, count) {
  const bytes = readBytes(pointer, count * 8);
  return new BigUint64Array(bytes.slice(0, bytes.byteLength & ~7));
}

function writeBytes(address, bytes) {
  const buffer = Memory.alloc(Math.max(bytes.length, 1));
  buffer.writeByteArray(bytes.buffer || bytes);
  return pwrite(OWN_MEMORY, buffer, bytes.length, int64(address.toString())).toNumber();
}

// membarrier (324): REGISTER_PRIVATE_EXPEDITED_SYNC_CORE once, then
// PRIVATE_EXPEDITED_SYNC_CORE. Between two writes to code that other threads run, every core
// must have seen the first.
ask(324, 1 << 6);
const syncCores = () => { ask(324, 1 << 5); };

// Seconds since the start, and nanoseconds: the lower halves are enough, and cost no objects.
const stampBuffer = Memory.alloc(16);
const stamp = new Uint32Array(ArrayBuffer.wrap(stampBuffer, 16));
let sequence = 0;
function microseconds() {
  clockGettime(1, stampBuffer);
  return stamp[0] * 1e6 + stamp[2] / 1e3;
}

// Machine code of ours asks the system's for the time.
const CLOCK = Process.findModuleByName('linux-vdso.so.1');
const CLOCK_CODE = (CLOCK && CLOCK.findExportByName('__vdso_clock_gettime')) || exported('clock_gettime');

const hex = (bytes) => Array.from(bytes, (one) => one.toString(16).padStart(2, '0')).join('');
const unhex = (text) => (text.match(/../g) || []).map((pair) => parseInt(pair, 16));

function setBusy(thread, change) {
  const at = BUSY.add(thread);
  at.writeU8(at.readU8() + change);
}

// Records leave in batches; what the other side has not yet taken is bounded, and what did not
// fit is counted.
const BATCH_MAX = 512;
const BATCHES_OUT_MAX = 8;
const RECORD_BATCHES_OUT_MAX = 40; // a burst of what lines that are hot log
let batch = [];
let batchesOut = 0;
let lost = 0;

// A hit's number and its text, or without a number what went wrong: rows are written fastest. Their
// place in the sequence they get when they leave.
function note(id, thread, hits, text) {
  if (batch.length >= BATCH_MAX) flush();
  if (batch.length >= BATCH_MAX) { lost++; return false; }
  batch.push([id, thread, 0, microseconds(), hits, text]);
  return true;
}

// What machine code has logged goes with them; who takes a message puts it in the order of time. A
// row waits for what was logged before it, unless there is no room to wait.
const NO_LOGS = { count: 0, bytes: null, goesOn: false, until: Infinity, dropped: 0 };
function flush(must) {
  if (must && logger !== null) awaitLogs();
  for (let turn = LOGS / LOGS_MAX; batchesOut < RECORD_BATCHES_OUT_MAX || must; turn--) {
    const logs = logger === null ? NO_LOGS : takeLogs();
    const goesOn = logs.goesOn && turn > 0;
    const isAll = !goesOn && (must || batch.length >= BATCH_MAX);
    const rows = isAll ? batch : batch.filter(([, , , time]) => time <= logs.until);
    lost += logs.dropped;
    if (!logs.count && !rows.length && !lost) return;
    for (const row of rows) row[2] = ++sequence;
    const message = { type: 'records', records: rows, lost, traced: tracer !== null };
    if (logs.count) {
      Object.assign(message, { names: namesOfLogs(), first: sequence + 1 });
      sequence += logs.count;
    }
    batchesOut++;
    logsWait = tracer !== null;
    send(message, logs.bytes);
    batch = batch.slice(rows.length);
    lost = 0;
    if (!goesOn) return;
  }
}

// Texts of logpoints wait on the other side for the calls of the same time, to be put among them.
let logsWait = false;
function sendCalls(lost, bytes) {
  batchesOut++;
  logsWait = false;
  send({ type: 'calls', lost }, bytes);
}
function sendAll(must) {
  flush(must);
  drainAll(must);
  if (logsWait) sendCalls(0, null);
}

function tell(message) {
  sendAll(true);
  message.sequence = ++sequence;
  message.time = microseconds();
  send(message);
}
