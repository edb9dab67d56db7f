// The signals that are ours: the handlers, the masks that may not block them, the last words.
'use strict';

// SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV. Not by Process.setExceptionHandler: it runs on
// the signal's small stack, and is fatal on Rust (frida 17.25).
const FATAL = [4, 6, 7, 8, 11];
const ON_STACK = 0x08000000;
const ALTERNATE = 0x10000;
const SS_DISABLE = 2;
const oldActions = new Map();

const GUARDS = `
#include <gum/guminterceptor.h>
#include <string.h>
typedef struct { guint8 bytes[152]; } Copy;
extern int getpid (void);
extern void last_words (void);
extern int owner;

static void without_ours (GumInvocationContext * ic, guint nth, gsize size, gsize mask) {
  Copy * copy = GUM_IC_GET_INVOCATION_DATA (ic, Copy);
  guint8 * given = gum_invocation_context_get_nth_argument (ic, nth);
  if (given == NULL || ((given[mask] & 16) == 0 && (given[mask + 7] & 0x40) == 0)) return;
  memcpy (copy->bytes, given, size);
  copy->bytes[mask] &= ~16;
  copy->bytes[mask + 7] &= ~0x40;
  gum_invocation_context_replace_nth_argument (ic, nth, copy->bytes);
}
void onMask (GumInvocationContext * ic) {
  if (GPOINTER_TO_INT (gum_invocation_context_get_nth_argument (ic, 0)) != 1) without_ours (ic, 1, 128, 0);
}
void onAction (GumInvocationContext * ic) { without_ours (ic, 1, 152, 8); }
void onReturn (GumInvocationContext * ic) { }
void onExit (GumInvocationContext * ic) { if (getpid () == owner) last_words (); }
`;

const lastWords = () => asOurs(() => {
  tell({ type: 'last', tally: tally() });
  recv('last', () => {}).wait();
});

let guards = null;
let sayLastWords = null;
function guardMasks() {
  sayLastWords = new NativeCallback(lastWords, 'void', []);
  const owner = Memory.alloc(8);
  owner.writeS32(Process.id);
  guards = { owner, code: new CModule(GUARDS,
    { getpid: exported('getpid'), last_words: sayLastWords, owner }) };
  const { onMask, onAction, onReturn, onExit } = guards.code;
  for (const name of ['pthread_sigmask', 'sigprocmask']) {
    Interceptor.attach(exported(name), { onEnter: onMask, onLeave: onReturn });
  }
  Interceptor.attach(exported('sigaction'), { onEnter: onAction, onLeave: onReturn });
  Interceptor.attach(exported('_exit'), { onEnter: onExit, onLeave: onReturn });
}

function handle(number, code, flags) {
  const [action, old] = [Memory.alloc(32), Memory.alloc(32)];
  action.writePointer(code);
  // SA_NODEFER | SA_RESTORER | SA_SIGINFO. By the system call itself, as libc's sigaction is
  // hooked below.
  action.add(8).writeU64(flags | 0x44000004);
  action.add(16).writePointer(RESTORER);
  action.add(24).writeU64(0);
  if (ask(13, number, action, old, 8) !== 0) throw new Error(`no handler for signal ${number}`);
  oldActions.set(number, old);
  return old.readPointer();
}

// Machine code has marks, eight bytes each, where an address of this process belongs.
function placed(code, values) {
  const bytes = unhex(code);
  for (const [mark, value] of values) {
    for (let found = code.indexOf(mark); found >= 0; found = code.indexOf(mark, found + 1)) {
      const at = found / 2;
      let left = BigInt(value.toString());
      for (let i = 0; i < 8; i++) { bytes[at + i] = Number(left & 255n); left >>= 8n; }
    }
  }
  return bytes;
}

const OF_TABLE = '8877665544332211';
// A callback is the fast way into JavaScript; a thread waits, and calls, in a hooked function.
const onHit = new NativeCallback(hit, 'int', ['pointer', 'int', 'uint']);
const enterCode = () => placed(MACHINE.enter, [['5857565554535251', Process.id],
  ['3837363534333231', BUSY], ['7877767574737271', AGENT.start],
  ['8887868584838281', AGENT.size], ['4847464544434241', onHit], ['6867666564636261', STOP_HOOK]]);

// Where a stack is full, a signal is handled on another: the first thread of a program that has not
// begun yet gives itself one. Those that run already keep what they have.
let begins = /\) t /.test(threadFile(Process.id, 'stat')) ? Process.id : 0;
function giveStack() {
  begins = 0;
  const stack = Memory.alloc(24);
  if (ask(131, NULL, stack) !== 0 || (stack.add(8).readU32() & SS_DISABLE) === 0) return;
  const room = mmap(NULL, ALTERNATE, 3, 0x4022, -1, 0);
  if (room.equals(ptr(-1))) return;
  stack.writePointer(room);
  stack.add(8).writeU64(0);
  stack.add(16).writeU64(ALTERNATE);
  ask(131, stack, NULL);
}

const CLOCK_WORDS = 64;
const isInOurClock = ({ rip, rsp }) => CLOCK !== null && isIn(rip, { start: CLOCK.base, end: CLOCK.base.add(CLOCK.size) })
  && stackWords(rsp, CLOCK_WORDS).some((word) => isOwnCode(ptr(word.toString())));

// The number is 0 where the thread was asked to pause while it was in the agent.
function onTrap(number, info, context) {
  const thread = Process.getCurrentThreadId();
  const view = new ContextView(context);
  if (thread === begins) giveStack();
  if (number === 5) {
    info.add(4).writeU32(1);
    watchHit(view);
  } else if (wanted.has(thread)) {
    info.add(4).writeU32(1);
    if (isOwnCode(view.rip) || isInOurClock(view)) {
      info.add(4).writeU32(2);
      askSoon(thread);
      return;
    }
    if (number !== 0) restartCall(view, wanted.get(thread));
    pause('pause', view, {});
  }
  wasInterrupted(thread);
}

function onCrash(number, info, context) {
  tell({ type: 'counts', tally: tally() });
  pause('crash', new ContextView(context), { signal: number, code: info.add(8).readS32(),
    fault: info.add(16).readPointer() });
}

function takeSignals() {
  const nops = Array(16).fill(0x90);
  STOP_HOOK.writeByteArray([...nops, 0xc3]);
  // What the hook has handled it says in si_errno, which nobody uses.
  for (const hook of [TRAP_HOOK, CRASH_HOOK]) hook.writeByteArray([...nops, 0x8b, 0x46, 0x04, 0xc3]);
  Interceptor.attach(STOP_HOOK, { onEnter(args) { stop(args[0], sites[args[1].toInt32()]); } });
  Interceptor.attach(TRAP_HOOK, { onEnter(args) { onTrap(args[0].toInt32(), args[1], args[2]); } });
  Interceptor.attach(CRASH_HOOK, { onEnter(args) { onCrash(args[0].toInt32(), args[1], args[2]); } });
  guardMasks();
  Interceptor.flush();
  RESTORER.writeByteArray([0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]);
  TRAP_CODE.writeByteArray(placed(MACHINE.trap, [[OF_TABLE, TABLE]]));
  CRASH_CODE.writeByteArray(placed(MACHINE.crash, [[OF_TABLE, CRASH]]));
  TABLE.add(8).writeU64(TABLE_SLOTS - 1);
  TABLE.add(16).writePointer(TRAP_HOOK);
  TABLE.add(24).writeU64(Process.id);
  TABLE.add(32).writePointer(BUSY);
  CRASH.writePointer(CRASH_HOOK);
  CRASH.add(8).writeU64(Process.id);
  CRASH.add(16).writePointer(BUSY);
  findOurs();
  // Frida takes the signals when it first needs them: that has to be before us.
  try { NULL.readU8(); } catch (error) { /* that was the point */ }
  TABLE.writePointer(handle(5, TRAP_CODE, 0x10000000));
  findEarlier(handle(PAUSE, TRAP_CODE, 0x10000000));
  for (const number of FATAL) {
    CRASH.add(32 + number * 8).writePointer(handle(number, CRASH_CODE, begins ? ON_STACK : 0));
  }
  if (begins) ask(234, Process.id, begins, PAUSE);
}

// The trap stays ours until Frida is unloaded, which puts its own back, and the wish to pause for
// good: a thread may be on its way there (idle waits for those that are at a trap).
function leaveSignals() {
  CRASH.add(8).writeU64(0);
  TABLE.add(24).writeU64(0);
  TABLE.writePointer(NULL); // Frida's handler, which goes with it
  for (const number of FATAL) ask(13, number, oldActions.get(number), 0, 8);
}
