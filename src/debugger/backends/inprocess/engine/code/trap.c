/* The handler of SIGTRAP sends a thread that hit an int3 of ours to the stub of that address; that
   of PAUSE lets a thread pause that was asked to. It is another signal, because the kernel drops
   the int3 of a thread that has a SIGTRAP waiting. */
typedef unsigned long u64;
typedef void (*handler)(int, void *, void *);
typedef int (*hook)(int, void *, void *);

#define PAUSE 63
#define TRAP_HWBKPT 4
#define PAUSES 0x80    /* the thread shall pause when it leaves */
#define LATER 2        /* the hook says so where no place of the program's is */
#define BY_SIGNAL 0x40 /* it may have been interrupted anywhere */

struct table {
  u64 old;   /* the handler before ours */
  u64 mask;  /* entries minus one */
  u64 hook;  /* called for a watchpoint's hit, a wish to pause, and one that came in the hook */
  u64 owner; /* the process that all this belongs to; a forked child only runs on */
  unsigned char *busy; /* by thread id: how deep that thread is in the agent's code */
  u64 pad[3];
  struct { u64 address, stub; } entry[];
};

/* on_trap is to be the first of the code, so nothing else remains beside it. */
#define INLINE static inline __attribute__((always_inline))

INLINE u64 system_call(u64 number) {
  u64 answer;
  __asm__ volatile("syscall" : "=a"(answer) : "a"(number) : "rcx", "r11", "memory");
  return answer;
}

/* A thread would wait for what it holds itself, so whoever is in the agent's code pauses later. */
INLINE int ask(struct table *table, int number, void *info, void *context) {
  if (system_call(39) != table->owner) return 0;
  unsigned char *busy = &table->busy[system_call(186)];
  if (number == PAUSE && (*busy & ~PAUSES)) {
    __atomic_or_fetch(busy, PAUSES, __ATOMIC_SEQ_CST);
    return 1;
  }
  unsigned char outer = __atomic_fetch_or(busy, BY_SIGNAL, __ATOMIC_SEQ_CST) & BY_SIGNAL;
  __atomic_add_fetch(busy, 1, __ATOMIC_SEQ_CST);
  /* The hook is JavaScript, so it may only run where the thread holds none of the agent's
   * locks. */
  int handled = ((hook)table->hook)(number, info, context);
  while (__atomic_fetch_and(busy, ~PAUSES, __ATOMIC_SEQ_CST) & PAUSES)
    ((hook)table->hook)(0, info, context);
  __atomic_sub_fetch(busy, 1, __ATOMIC_SEQ_CST);
  if (!outer) __atomic_and_fetch(busy, ~BY_SIGNAL, __ATOMIC_SEQ_CST);
  if (handled == LATER) __atomic_or_fetch(busy, PAUSES, __ATOMIC_SEQ_CST);
  return handled;
}

__attribute__((section(".text.a"), used)) void on_trap(int number, void *info, void *context) {
  struct table *table;
  __asm__ volatile("movabs $0x1122334455667788,%0" : "=r"(table));
  /* uc_mcontext.gregs, in the order of sys/ucontext.h; 16 is rip. */
  u64 *registers = (u64 *)((char *)context + 40);
  if (number == PAUSE) {
    if (table->hook) ask(table, number, info, context);
    return;
  }
  /* si_code: a debug register, and no int3. */
  if (*(int *)((char *)info + 8) == TRAP_HWBKPT) {
    if (table->hook && ask(table, number, info, context)) return;
  } else {
    u64 address = registers[16] - 1;
    /* Fibonacci hashing; agent/40_points.js (enterTable) computes the same. Entries are
     * never removed. */
    u64 hash = (address * 0x9E3779B97F4A7C15ul) >> 40;
    for (u64 i = 0; i <= table->mask; i++) {
      u64 k = (hash + i) & table->mask;
      if (table->entry[k].address == address) {
        unsigned char *busy = &table->busy[system_call(186)];
        /* A pause was requested and the thread is outside of the agent: it pauses at the
         * site, before the hit is counted, and comes to the int3 again afterwards. */
        if (*busy == PAUSES) {
          *busy = 0;
          registers[16] = address;
          ask(table, PAUSE, info, context);
          if (registers[16] != address) return;
        }
        registers[16] = table->entry[k].stub;
        return;
      }
      if (!table->entry[k].address) break;
    }
  }
  if (table->old > 1) ((handler)table->old)(number, info, context);
}
