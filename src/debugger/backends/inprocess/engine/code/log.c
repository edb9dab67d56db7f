/* What a logpoint writes down where machine code can tell all of it: its values, into a ring, from
 * which the agent (agent/44_logs.js) takes them in batches. Whatever else there is to say of a hit,
 * a value that cannot be read above all, is left to the agent by an answer that is not 0. */
typedef unsigned long u64;
typedef unsigned int u32;

#define RING 32768u
#define MARGIN 256u /* threads that may be between the look and the claim */
#define WORDS 12
#define PAUSES 0x80 /* the thread shall pause when it leaves */
#define PAUSE 2     /* which enter.S is told so */

struct record {
  volatile u32 ready;
  u32 point, thread, pad;
  u64 time, hit, word[WORDS];
};
struct state {
  struct record *ring;
  void (*clock)(int, u64 *);
  u64 owner;  /* the process that all this belongs to; a forked child only runs on */
  u64 latest; /* the highest time of those that were counted last */
  volatile unsigned char *busy; /* by thread id; trap.c says what is in it */
  u64 pad0[11];
  volatile u32 claimed;
  u32 pad1[31];
  volatile u32 drained;
  u32 pad2[31];
  volatile u32 dropped;
};
struct told {
  u64 logged;
  volatile u32 muted;
};
struct point {
  struct state *state;
  int (*values)(u64 *, u64 *);
  u64 *count; /* where this point counts its hits by itself; 0 where its stub does */
  volatile u64 *wake;
  struct told *told;
  volatile u64 base, ignore;
  volatile long allowed, taken; /* records */
  u32 number, width, mutes;
};

static long ask(long number) {
  long answer;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(number) : "rcx", "r11", "memory");
  return answer;
}

/* Over its rate, a line that its stub counts for costs no more than that, until the agent asks
 * for its records again. */
static int has_allowance(struct point *point) {
  if (__atomic_fetch_add(&point->taken, 1, __ATOMIC_RELAXED) < point->allowed) return 1;
  __atomic_sub_fetch(&point->taken, 1, __ATOMIC_RELAXED);
  if (point->mutes) {
    point->told->muted = 1;
    *point->wake = ~0ul >> 1;
  }
  return 0;
}

static int has_room(struct state *s) {
  /* In this order, and with a sign: a thread that is held up in between finds more drained than it
   * has seen claimed. */
  u32 claimed = s->claimed;
  return (int)(claimed - s->drained) < (int)(RING - MARGIN);
}

/* Everything is at hand before a place is claimed: whoever is held up in between holds up all. */
static void put(struct point *point, u64 thread, u64 hit, const u64 *word) {
  struct state *s = point->state;
  u64 time[2];
  if (!has_room(s)) {
    __atomic_add_fetch(&s->dropped, 1, __ATOMIC_RELAXED);
    return;
  }
  /* CLOCK_MONOTONIC by the vDSO: no system call. */
  s->clock(1, time);
  u32 number = __atomic_fetch_add(&s->claimed, 1, __ATOMIC_RELAXED);
  struct record *record = &s->ring[number % RING];
  record->point = point->number;
  record->thread = (u32)thread;
  record->time = time[0] * 1000000000ul + time[1];
  record->hit = hit;
  for (u32 i = 0; i < point->width; i++) record->word[i] = word[i];
  __atomic_add_fetch(&point->told->logged, 1, __ATOMIC_RELAXED);
  record->ready = number + 1; /* last, and stores are seen in order */
}

__attribute__((used)) int on_log(u64 *frame, u64 arrival, struct point *point) {
  u64 word[WORDS];
  int answer = point->values(frame, word);
  if (answer <= 0) return answer;
  if ((u64)ask(39) != point->state->owner) return 0;
  if (point->count) arrival = __atomic_add_fetch(point->count, 1, __ATOMIC_RELAXED);
  u64 hit = arrival - point->base;
  if ((long)hit <= (long)point->ignore || !has_allowance(point)) return 0;
  u64 thread = (u64)ask(186);
  put(point, thread, hit, word);
  return point->state->busy[thread] & PAUSES ? PAUSE : 0;
}

/* How many records from the first undrained one on can be read. */
__attribute__((used)) u32 logs_ready(struct state *s, u32 limit) {
  u32 count = 0;
  s->latest = 0;
  for (; count < limit; count++) {
    struct record *record = &s->ring[(s->drained + count) % RING];
    if (record->ready != s->drained + count + 1) break;
    if (record->time > s->latest) s->latest = record->time;
  }
  return count;
}
