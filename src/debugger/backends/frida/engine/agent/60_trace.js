// Calls and returns of whole functions, written to a ring by machine code and drained in batches.
'use strict';

const RING = 1 << 15;
const traced = new Map(); // id to its listener
let ring = null;

const SOURCE = `
#include <gum/guminterceptor.h>
#include <gum/gumprocess.h>
typedef struct {
  volatile guint ready; guint id; guint thread; guint kind; guint64 time; guint64 word[6];
} Record;
typedef struct { guint64 start; } Call;
extern Record * ring;
extern volatile gint claimed;
extern volatile gint drained;
extern volatile gint dropped;
extern int clock_gettime (int, void *);

static guint64 now (void) { guint64 t[2]; clock_gettime (1, t); return t[0] * 1000000000 + t[1]; }

/* Room is kept for as many threads as may be between the look and the claim. */
static Record * claim (gint * number) {
  if ((guint) (claimed - drained) >= ${RING - 256}) { g_atomic_int_add (&dropped, 1); return NULL; }
  *number = g_atomic_int_add (&claimed, 1);
  return &ring[*number & ${RING - 1}];
}

static void put (GumInvocationContext * ic, guint kind, guint64 time, guint64 * words) {
  gint number;
  Record * record = claim (&number);
  guint i;
  if (record == NULL) return;
  record->id = GPOINTER_TO_SIZE (gum_invocation_context_get_listener_function_data (ic));
  record->thread = gum_invocation_context_get_thread_id (ic);
  record->kind = kind;
  record->time = time;
  for (i = 0; i != 6; i++) record->word[i] = words[i];
  /* Last, and stores are seen in order on x86. */
  record->ready = number + 1;
}

void onEnter (GumInvocationContext * ic) {
  Call * call = GUM_IC_GET_INVOCATION_DATA (ic, Call);
  guint64 words[6];
  guint i;
  for (i = 0; i != 6; i++) words[i] = GPOINTER_TO_SIZE (gum_invocation_context_get_nth_argument (ic, i));
  call->start = now ();
  put (ic, 0, call->start, words);
}

void onLeave (GumInvocationContext * ic) {
  Call * call = GUM_IC_GET_INVOCATION_DATA (ic, Call);
  guint64 time = now ();
  guint64 words[6] = { 0, 0, 0, 0, 0, 0 };
  words[0] = GPOINTER_TO_SIZE (gum_invocation_context_get_return_value (ic));
  words[1] = time - call->start;
  put (ic, 1, time, words);
}
`;
const RECORD = 72;

function traceAdd(orders) {
  if (ring === null) {
    const memory = mmap(NULL, RING * RECORD + PAGE, 3, 0x22, -1, 0);
    ring = { memory: memory.add(PAGE), claimed: memory, drained: memory.add(64),
      dropped: memory.add(128), pointer: memory.add(192), told: 0 };
    ring.pointer.writePointer(ring.memory);
    ring.code = new CModule(SOURCE, { ring: ring.pointer, claimed: ring.claimed,
      drained: ring.drained, dropped: ring.dropped, clock_gettime: exported('clock_gettime') });
  }
  for (const order of orders) {
    traced.set(order.id, Interceptor.attach(ptr(order.address),
      { onEnter: ring.code.onEnter, onLeave: ring.code.onLeave }, ptr(order.id)));
  }
  Interceptor.flush();
}

function traceRemove(ids) {
  for (const id of ids) {
    const listener = traced.get(id);
    if (listener !== undefined) listener.detach();
    traced.delete(id);
  }
  Interceptor.flush();
}

// A record that was claimed and is not ready yet ends the drain: the next one begins with it.
function drain(must) {
  if (ring === null || (batchesOut >= BATCHES_OUT_MAX && !must)) return;
  const first = ring.drained.readS32();
  const limit = Math.min(ring.claimed.readS32() - first, RING - (first & (RING - 1)), 8192);
  const dropped = ring.dropped.readU32();
  let ready = 0;
  while (ready < limit) {
    const record = ring.memory.add(((first + ready) & (RING - 1)) * RECORD);
    if (record.readS32() !== first + ready + 1) break;
    ready++;
  }
  if (!ready && dropped === ring.told) return;
  const bytes = ring.memory.add((first & (RING - 1)) * RECORD).readByteArray(ready * RECORD);
  ring.drained.writeS32(first + ready);
  batchesOut++;
  send({ type: 'calls', lost: dropped - ring.told }, bytes);
  ring.told = dropped;
}
