// Who is forked waits until somebody has entered him, or has let him go; he runs no JavaScript of
// ours, for the thread that runs it exists in his parent only.
'use strict';

// A child has its own of the first, with the word that it waits for; the second they share.
const KIN = mmap(NULL, PAGE, 3, 0x22, -1, 0);
const WAITING = mmap(NULL, PAGE, 3, 0x21, -1, 0);
const KIN_STATE = KIN.add(4);
const KIN_PIDS = WAITING.add(64);
const KIN_FREE = 2;
const KIN_MAX = 256;

const FORKS = `
#include <gum/guminterceptor.h>
extern int getpid (void);
extern long nanosleep (const void * time, void * rest);
extern int prctl (int what, unsigned long who);
extern void before_exit (int status);
extern volatile int kin[];
extern volatile int waiting[];

extern long syscall (long number, long a, long b, long c, long d);

static void moment (void) {
  long time[2] = { 0, 1000000 };
  nanosleep (time, NULL);
}
static void wait_for_word (void) {
  int turn;
  waiting[16 + g_atomic_int_add (&waiting[0], 1) % 256] = getpid ();
  prctl (0x59616d61, -1ul);
  for (turn = 0; turn < (kin[1] == 3 ? 60000 : 10000); turn++) {
    if (kin[1] == 1 || kin[1] == 2) return;
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

const beforeExit = new NativeCallback((status) => {
  asOurs(() => {
    tellForks();
    tell({ type: 'exiting', status: status & 255 });
  });
}, 'void', ['int']);
KIN.writeS32(Process.id);
KIN_STATE.writeS32(KIN_FREE);
const forks = new CModule(FORKS, { getpid: exported('getpid'), nanosleep: exported('nanosleep'),
  prctl: exported('prctl'), syscall: exported('syscall'), before_exit: beforeExit, kin: KIN, waiting: WAITING });
// Before the listener that says the last words, for nothing is heard after them.
Interceptor.attach(exported('_exit'), { onEnter: forks.onExit, onLeave: forks.onNothing });

let forkTimer = null;
function follow(on) {
  KIN_STATE.writeS32(on ? 0 : KIN_FREE);
  if (on && forkTimer === null) {
    Interceptor.attach(exported('fork'), { onEnter: forks.onNothing, onLeave: forks.onFork });
    Interceptor.flush();
    forkTimer = setInterval(tellForks, 5);
  }
  return KIN_STATE;
}
