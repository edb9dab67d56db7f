// A forked child waits until somebody has entered it, or has released it; it runs no
// JavaScript, for the thread that does exists in its parent only. So does a thread that is
// about to exec: until it is traced to where the new program begins (exec_tracking.py).
'use strict';

// A child has its own of the first, with the word that it waits for; the second they share.
const KIN = mapLasting(NULL, PAGE, 3, 0x22);
const WAITING = mapLasting(NULL, PAGE, 3, 0x21);
const KIN_STATE = KIN.add(4);
const IS_OVER = WAITING.add(4); // nobody looks any more who waits
const KIN_PIDS = WAITING.add(64);
const KIN_FREE = 2;
const KIN_MAX = 256;
// A thread that waits at an exec has 32 bytes: whether it waits (2 once it was reported),
// process, thread, word, path, descriptor, and whether the entry is taken.
const EXECS = mapLasting(NULL, PAGE, 3, 0x21);
const EXECS_MAX = 64;
const EXEC_SIZE = 32;

const FORKS = `
#include <gum/guminterceptor.h>
#define EXECS_MAX ${EXECS_MAX}
extern int getpid (void);
extern long nanosleep (const void * time, void * rest);
extern int prctl (int what, unsigned long who);
extern int * __errno_location (void);
extern void before_exit (int status);
extern volatile int kin[];
extern volatile int waiting[];
extern volatile int execs[];

extern long syscall (long number, long a, long b, long c, long d);

static void moment (void) {
  long time[2] = { 0, 1000000 };
  nanosleep (time, NULL);
}
static int is_host_gone (void) {
  return syscall (62, ${HOST}, 0, 0, 0) == -1 && *__errno_location () == 3;
}
static void wait_for_word (void) {
  int turn;
  waiting[16 + g_atomic_int_add (&waiting[0], 1) % 256] = getpid ();
  prctl (0x59616d61, -1ul);
  for (turn = 0; turn < (kin[1] == 3 ? 60000 : 10000); turn++) {
    if (kin[1] == 1 || kin[1] == 2) return;
    if ((kin[1] == 0 && waiting[1]) || is_host_gone ()) break;
    moment ();
  }
  kin[1] = 2;
}
// Whoever enters has threads that begin with this mask, and faults that may not be blocked.
static void wait_to_be_let_go (void) {
  unsigned long faults = 1ul << 3 | 1ul << 4 | 1ul << 6 | 1ul << 7 | 1ul << 10, before = 0;
  syscall (14, 1, (long) &faults, (long) &before, 8);
  wait_for_word ();
  before &= ~(1ul << 4);
  syscall (14, 2, (long) &before, 0, 8);
}
void onFork (GumInvocationContext * ic) {
  int made = GPOINTER_TO_INT (gum_invocation_context_get_return_value (ic));
  if (getpid () != kin[0]) {
    if (made == 0 && kin[1] == 0) wait_to_be_let_go ();
  } else if (made > 0 && kin[1] == 0) {
    g_atomic_int_add (&kin[2], 1);
  }
}
void onExit (GumInvocationContext * ic) {
  int turn;
  if (getpid () != kin[0]) return;
  for (turn = 0; turn != 1000 && waiting[0] < kin[2]; turn++) moment ();
  before_exit (GPOINTER_TO_INT (gum_invocation_context_get_nth_argument (ic, 0)));
}
// Also of a child that has this memory until its exec, or a copy that we were not told of.
static void hold_exec (const char * path, int descriptor) {
  int i, turn;
  for (i = 0; i != EXECS_MAX; i++) {
    volatile int * one = &execs[i * 8];
    if (g_atomic_int_add (&one[7], 1) == 0) {
      one[1] = getpid ();
      one[2] = syscall (186, 0, 0, 0, 0);
      one[3] = 0;
      *(const char * volatile *) &one[4] = path;
      one[6] = descriptor;
      if (one[1] != kin[0]) prctl (0x59616d61, -1ul);
      one[0] = 1;
      for (turn = 0; turn != 10000 && one[3] == 0 && !waiting[1] && !is_host_gone (); turn++) moment ();
      one[0] = 0;
      i = EXECS_MAX - 1;
    }
    g_atomic_int_add (&one[7], -1);
  }
}
// Where nothing is to be run, exec says so itself.
void onExec (GumInvocationContext * ic) {
  const char * path = gum_invocation_context_get_nth_argument (ic, 0);
  if (kin[1] == 0 && path != NULL && syscall (269, -100, (long) path, 1, 0) == 0) hold_exec (path, -1);
}
void onExecAt (GumInvocationContext * ic) {
  int descriptor = GPOINTER_TO_INT (gum_invocation_context_get_nth_argument (ic, 0));
  const char * path = gum_invocation_context_get_nth_argument (ic, 1);
  if (kin[1] == 0 && path != NULL) hold_exec (path, descriptor);
}
void onExecOf (GumInvocationContext * ic) {
  if (kin[1] == 0) hold_exec ("", GPOINTER_TO_INT (gum_invocation_context_get_nth_argument (ic, 0)));
}
void onNothing (GumInvocationContext * ic) { }
`;

let forksTold = 0;
function tellForks() {
  const count = WAITING.readU32();
  for (; forksTold < count; forksTold++) {
    const at = KIN_PIDS.add((forksTold % KIN_MAX) * 4);
    const pid = at.readS32();
    if (!pid) return; // it was counted just now
    at.writeS32(0);
    tell({ type: 'forked', pid, parent: Process.id });
  }
}

function tellExecs() {
  for (let i = 0; i < EXECS_MAX; i++) {
    const at = EXECS.add(i * EXEC_SIZE);
    if (at.readS32() !== 1) continue;
    at.writeS32(2);
    const [process, thread, descriptor] = [4, 8, 24].map((k) => at.add(k).readS32());
    tell({ type: 'execs', process, thread, word: at.add(12), path: at.add(16).readPointer(), descriptor });
  }
}

const beforeExit = new NativeCallback((status) => {
  asOurs(() => {
    tellForks();
    tellExecs();
    tell({ type: 'exiting', status: status & 255 });
  });
}, 'void', ['int']);
KIN.writeS32(Process.id);
KIN_STATE.writeS32(KIN_FREE);
const forks = new CModule(FORKS, { getpid: exported('getpid'), nanosleep: exported('nanosleep'),
  prctl: exported('prctl'), syscall: exported('syscall'),
  __errno_location: exported('__errno_location'), before_exit: beforeExit, kin: KIN, waiting: WAITING, execs: EXECS });
// Before the listener that says the last words, for nothing is heard after them.
Interceptor.attach(exported('_exit'), { onEnter: forks.onExit, onLeave: forks.onNothing });

const MOMENT = Memory.alloc(16);
MOMENT.add(8).writeU64(1000000);
const PARENTS_CALLS = ['56', '58', '435']; // clone, vfork, clone3
// A child that runs in our memory until its exec is none of our threads: its parent waits.
const hasChildInside = () => threadsNow().some((thread) => {
  const [call] = threadFile(thread, 'syscall').split(' ');
  return PARENTS_CALLS.includes(call);
});
const areHeld = () => Array.from({ length: EXECS_MAX }, (_, i) => EXECS.add(i * EXEC_SIZE + 28).readS32())
  .some((taken) => taken !== 0);
// Who is in code that Frida takes away leaves it first; bounded, for he may have been killed there.
function freeExecs() {
  KIN_STATE.writeS32(KIN_FREE);
  IS_OVER.writeS32(1);
  probes.forEach((probe) => probe.detach());
  Interceptor.flush();
  const limit = microseconds() + 1e6;
  do { ask(35, MOMENT, NULL); } while ((areHeld() || hasChildInside()) && microseconds() < limit);
}

const probes = [];
let kinTimer = null;
function follow(on) {
  KIN_STATE.writeS32(on ? 0 : KIN_FREE);
  if (on && kinTimer === null) {
    Interceptor.attach(exported('fork'), { onEnter: forks.onNothing, onLeave: forks.onFork });
    // Nothing may be kept for the end of a call that does not return: so these are probes.
    for (const [name, probe] of [['execve', forks.onExec], ['execveat', forks.onExecAt], ['fexecve', forks.onExecOf]]) {
      const at = EXPORTS.get(name);
      if (at) probes.push(Interceptor.attach(at, probe));
    }
    Interceptor.flush();
    kinTimer = setInterval(() => { tellForks(); tellExecs(); }, 5);
  }
  return KIN_STATE;
}
