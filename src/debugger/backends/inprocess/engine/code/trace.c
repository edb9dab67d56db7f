/* Calls and returns of traced functions, into a ring. The return address of a call is a trampoline
 * of its own for as long as the call lasts; the right one lies OFFSET above, where the rules for
 * unwinding (agent/60_trace.js) and the engine's reads find it. What an exception or a longjmp has
 * left behind is found when there is no room. */
typedef unsigned long u64;
typedef unsigned int u32;

#define RING 131072u
#define MARGIN 256u /* threads that may be between the look and the claim */
#define BLOCKS 256u /* threads */
#define DEPTH 512u  /* calls of each that are under way */
#define OFFSET (BLOCKS * DEPTH * 8ul)
#define TEXT 40
#define TRIES 4096u

struct record {
  volatile u32 ready;
  u32 function, thread, kind; /* 0 entered, 1 returned, 2 left for another function, which returns */
  u64 time, word[6], real[2];
  char text[TEXT];
  u64 caller; /* of an entry: the address to which the call returns */
};
struct function {
  volatile u32 tick, used, skipped;
  u32 id;
  u32 texts; /* the arguments that point to text, a bit each */
  u32 pad[3];
};
struct entry {
  u64 slot, start; /* 0 where it is free */
  struct function *function; /* 0 where an earlier attach traced the call */
  u64 pad;
};
struct block {
  volatile u64 thread; /* the address of its control block */
  u32 depth, has_id, failed, pad;
};
struct state {
  struct record *ring;
  void (*clock)(int, u64 *);
  char *trampolines;
  struct entry *entries;
  struct block *blocks;
  char *common;
  volatile u32 is_on, tick, limit, unreturned;
  u64 pad0[7 + 8];
  volatile u32 claimed;
  u32 pad1[31];
  volatile u32 drained;
  u32 pad2[31];
  volatile u32 dropped;
};

static struct state *state(void) {
  struct state *found;
  __asm__("movabs $0x1122334455667788,%0" : "=r"(found));
  return found;
}

static long ask(long number, long a, long b, long c, long d) {
  long answer;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return answer;
}

/* Asked with a wish that is refused only after it was read: EFAULT is what cannot be. */
static int is_readable(u64 address) {
  return address >= 4096 && ask(14, -1, (long)(address & ~7ul), 0, 8) != -14;
}

static u64 now(struct state *s) {
  u64 time[2];
  s->clock(1, time);
  return time[0] * 1000000000ul + time[1];
}

static u64 thread_block(void) {
  u64 found;
  __asm__ volatile("mov %%fs:0,%0" : "=r"(found));
  return found;
}

static struct block *block_of(struct state *s) {
  u64 key = thread_block();
  /* By the thread pointer, which is read without a system call; 256 blocks, searched from
   * the hash on. */
  u32 at = (u32)(key * 0x9E3779B97F4A7C15ul >> 56);
  for (u32 i = 0; i < BLOCKS; i++, at = (at + 1) % BLOCKS) {
    struct block *block = &s->blocks[at];
    if (block->thread == key) return block;
    if (block->thread || !__sync_bool_compare_and_swap(&block->thread, 0, key)) continue;
    /* Where glibc keeps the thread's number; others are asked each time. */
    block->has_id = *(int *)(key + 720) == ask(186, 0, 0, 0, 0);
    char *way = s->trampolines + (u64)at * DEPTH * 8;
    for (u32 k = 0; k < DEPTH; k++, way += 8) {
      way[0] = (char)0xe8;
      *(int *)(way + 1) = (int)(s->common - (way + 5));
    }
    return block;
  }
  return 0;
}

static u32 thread_of(struct block *block) {
  if (block && block->has_id) return *(u32 *)(thread_block() + 720);
  return (u32)ask(186, 0, 0, 0, 0);
}

static int has_room(struct state *s) {
  /* In this order, and with a sign: a thread that is held up in between finds more drained than it
   * has seen claimed. Threads check and then claim, so as many as are in between may overrun the
   * bound: hence MARGIN. */
  u32 claimed = s->claimed;
  return (int)(claimed - s->drained) < (int)(RING - MARGIN);
}

static struct record *claim(struct state *s, u32 *number) {
  if (!has_room(s)) {
    __atomic_add_fetch(&s->dropped, 1, __ATOMIC_RELAXED);
    return 0;
  }
  *number = __atomic_fetch_add(&s->claimed, 1, __ATOMIC_RELAXED);
  return &s->ring[*number % RING];
}

static void put_return(struct state *s, struct block *block, struct entry *entry, u32 kind, u64 time,
                       u64 first, u64 second, u64 real0, u64 real1) {
  u32 number;
  struct record *record = claim(s, &number);
  if (!record) return;
  record->function = entry->function->id;
  record->thread = thread_of(block);
  record->kind = kind;
  record->time = time;
  record->word[0] = first;
  record->word[1] = time - entry->start;
  record->word[2] = second;
  record->real[0] = real0;
  record->real[1] = real1;
  record->ready = number + 1; /* last, and stores are seen in order */
}

/* The first byte says how long the text is, or 255 that it cannot be read, and its highest bit
 * that it goes on. */
static void copy_text(char *to, u32 room, u64 from) {
  u32 at = 0;
  to[0] = (char)255;
  for (; at < room - 1; at++) {
    if ((!at || !((from + at) & 4095)) && !is_readable(from + at)) return;
    char letter = *(char *)(from + at);
    if (!letter) break;
    to[1 + at] = letter;
  }
  to[0] = (char)(at == room - 1 ? at | 128 : at);
}

static struct entry *take_entry(struct state *s, struct block *block, u32 *index) {
  u32 base = (u32)(block - s->blocks) * DEPTH;
  if (block->depth < DEPTH) {
    u32 at = block->depth;
    /* A signal may come in between, and its handler call what is traced. */
    s->entries[base + at].slot = 1;
    block->depth = at + 1;
    s->entries[base + at].slot = 1;
    *index = base + at;
    return &s->entries[base + at];
  }
  if (block->failed && block->failed++ < TRIES) return 0;
  block->failed = 1;
  struct entry *found = 0;
  for (u32 at = 0; at < DEPTH; at++) {
    struct entry *entry = &s->entries[base + at];
    u64 way = (u64)s->trampolines + (base + at) * 8ul;
    /* The frame of this call has gone without a return (exception, longjmp): its slot has
     * other content. */
    if (entry->slot && (!is_readable(entry->slot) || *(u64 *)entry->slot != way)) entry->slot = 0;
    if (entry->slot) continue;
    found = entry;
    *index = base + at;
  }
  while (block->depth && !s->entries[base + block->depth - 1].slot) block->depth--;
  if (!found) return 0;
  block->failed = 0;
  if (block->depth < DEPTH) return take_entry(s, block, index);
  found->slot = 1;
  return found;
}

__attribute__((used)) void on_enter(u64 *frame, struct function *function) {
  struct state *s = state();
  if (!s->is_on) return;
  if (function->tick != s->tick) {
    function->tick = s->tick;
    function->used = 0;
  }
  if (s->limit && __atomic_add_fetch(&function->used, 1, __ATOMIC_RELAXED) > s->limit) {
    __atomic_add_fetch(&function->skipped, 1, __ATOMIC_RELAXED);
    return;
  }
  u64 real0, real1;
  __asm__ volatile("movq %%xmm0,%0; movq %%xmm1,%1" : "=r"(real0), "=r"(real1));
  u64 *slot = frame + 33; /* 264 bytes above it is the stack as the function finds it */
  u64 time = now(s), caller = *slot, distance = caller - (u64)s->trampolines;
  struct block *block = block_of(s);
  struct entry *entry = 0;
  u32 index = 0, number;
  if (distance < OFFSET) {
    /* It was jumped to, and returns for who jumped. */
    entry = &s->entries[distance / 8];
    if (entry->slot == (u64)slot) put_return(s, block, entry, 2, time, 0, 0, 0, 0);
    else entry = 0;
  }
  struct record *record = claim(s, &number);
  if (record) {
    const u64 argument = 0x06070d0c0908ul; /* where each is in the frame, a byte each */
    record->function = function->id;
    record->thread = thread_of(block);
    record->kind = 0;
    record->time = time;
    for (u32 i = 0; i < 6; i++) record->word[i] = frame[argument >> 8 * i & 255];
    record->real[0] = real0;
    record->real[1] = real1;
    record->caller = distance < OFFSET ? *(u64 *)(s->trampolines + OFFSET + distance) : caller;
    if (function->texts) {
      char *to = record->text;
      u32 room = function->texts & (function->texts - 1) ? TEXT / 2 : TEXT;
      for (u32 i = 0; i < 6 && to < record->text + TEXT; i++) {
        if (!(function->texts >> i & 1)) continue;
        copy_text(to, room, record->word[i]);
        to += room;
      }
    }
    record->ready = number + 1;
  }
  if (entry) {
    entry->start = time;
    entry->function = function;
    return;
  }
  if (distance < OFFSET) return;
  if (block) entry = take_entry(s, block, &index);
  if (!entry) {
    __atomic_add_fetch(&s->unreturned, 1, __ATOMIC_RELAXED);
    return;
  }
  entry->start = time;
  entry->function = function;
  *(u64 *)(s->trampolines + OFFSET + index * 8ul) = caller;
  entry->slot = (u64)slot;
  *slot = (u64)s->trampolines + index * 8ul;
}

__attribute__((used)) void on_return(u64 *saved) {
  struct state *s = state();
  u64 real0, real1;
  __asm__ volatile("movq %%xmm0,%0; movq %%xmm1,%1" : "=r"(real0), "=r"(real1));
  u32 index = (u32)((saved[15] - 5 - (u64)s->trampolines) / 8);
  struct entry *entry = &s->entries[index];
  struct block *block = &s->blocks[index / DEPTH];
  u32 base = index / DEPTH * DEPTH;
  saved[15] = *(u64 *)(s->trampolines + OFFSET + index * 8ul);
  if (s->is_on && entry->function) put_return(s, block, entry, 1, now(s), saved[14], saved[13], real0, real1);
  entry->slot = 0;
  while (block->depth && !s->entries[base + block->depth - 1].slot) block->depth--;
}

/* How many records from the first undrained one on can be read. */
__attribute__((used)) u32 count_ready(struct state *s, u32 limit) {
  u32 count = 0;
  while (count < limit && s->ring[(s->drained + count) % RING].ready == s->drained + count + 1) count++;
  return count;
}
