// Unmaps what earlier attaches left in this process, once no thread can be in it any more.
'use strict';

const LIST_MARK = '646562756767657220616e64206c6566'; // says that what follows is such a list
const LIST_MAX = 250;
const LIST_TRACER = PAGE - 16; // where its memory is, and its rules for unwinding
// Each thread that may be in one of them has the time for which it had run.
const earlier = { mappings: [], threads: new Map(), tracer: NULL, rules: null };

// The handler of PAUSE stays after a detach, so it says where the last attach had its ground.
function findEarlier(handler) {
  if (handler.compare(ptr(PAGE * 16)) < 0) return;
  const list = readBytes(handler.sub(TRAP_OFFSET).add(LIST_OFFSET), PAGE);
  if (list.byteLength < PAGE || hex(new Uint8Array(list, 0, 16)) !== LIST_MARK) return;
  const words = new BigUint64Array(list);
  for (let i = 0, at = 3; i < Math.min(Number(words[2]), LIST_MAX); i++, at += 2) {
    const start = ptr(`0x${words[at].toString(16)}`);
    earlier.mappings.push([start, Number(words[at + 1])]);
    noteOwnCode(start, Number(words[at + 1]));
  }
  const [tracerAt, rulesAt] = [...words.slice(LIST_TRACER / 8)].map((word) => ptr(`0x${word.toString(16)}`));
  Object.assign(earlier, { tracer: tracerAt, rules: rulesAt.isNull() ? null : rulesAt });
  if (!tracerAt.isNull()) noteOwnCode(tracerAt, TRACER_SIZE);
  for (const thread of threadsOfProgram()) earlier.threads.set(thread, ranFor(thread));
}

function isAnyEarlier(words) {
  const ranges = earlier.mappings.map(([start, size]) => [BigInt(start.toString()), BigInt(start.add(size).toString())]);
  return words.some((word) => ranges.some(([start, end]) => word >= start && word < end));
}

// Whoever has been outside never comes back, so each is looked at until he has been.
function hasLeftEarlier(thread, before) {
  const now = ranFor(thread);
  if (now === null) return threadFile(thread, 'comm') === '';
  if (BUSY.add(thread).readU8() & BUSY_BY_SIGNAL) return false;
  if (before === null) earlier.threads.set(thread, now);
  else if (now - before > RAN_WITH_HANDLERS_NS) return true;
  const view = paused.get(thread);
  const stands = view ? [view.rip, view.rsp] : standsAt(thread);
  return stands !== null && !isAnyEarlier([BigInt(stands[0].toString()), ...stackWords(stands[1], STACK_WORDS)]);
}

function unmapEarlier() {
  for (const [thread, before] of [...earlier.threads]) {
    if (hasLeftEarlier(thread, before)) earlier.threads.delete(thread);
  }
  if (earlier.threads.size) return;
  for (const [start, size] of earlier.mappings.splice(0)) munmap(start, size);
}

const earlierTimer = setInterval(() => {
  if (!earlier.mappings.length) clearInterval(earlierTimer);
  else unmapEarlier();
}, 50);

// For the next attach; what was not unmapped yet goes along.
function listMappings() {
  if (earlier.mappings.length) unmapEarlier();
  const all = [...mappings, ...earlier.mappings].slice(0, LIST_MAX);
  const list = ground.add(LIST_OFFSET);
  list.add(16).writeU64(all.length);
  all.forEach(([start, size], i) => {
    list.add(24 + i * 16).writePointer(start);
    list.add(32 + i * 16).writeU64(size);
  });
  const last = tracer === null ? [earlier.tracer, earlier.rules] : [tracer.memory, tracer.rules];
  last.forEach((at, i) => list.add(LIST_TRACER + i * 8).writePointer(at || NULL));
  list.writeByteArray(unhex(LIST_MARK));
}
