/* The handler of fatal signals: lets the agent look, then lets the signal do what it would. */
typedef unsigned long u64;
typedef void (*handler)(int, void *, void *);

struct crash {
  u64 hook;
  u64 owner;
  unsigned char *busy; /* by thread id: the agent runs there, and its faults are its own */
  u64 pad;
  u64 old[32];
};

static long ask(long number, long a, long b, long c, long d) {
  long answer;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return answer;
}

__attribute__((section(".text.a"), used)) void on_crash(int number, void *info, void *context) {
  struct crash *crash;
  __asm__ volatile("movabs $0x1122334455667788,%0" : "=r"(crash));
  long pid = ask(39, 0, 0, 0, 0), thread = ask(186, 0, 0, 0, 0);
  u64 old = crash->old[number & 31];
  if (crash->busy[thread] & 0x7f) {
    if (old > 1) ((handler)old)(number, info, context);
    return;
  }
  if ((u64)pid == crash->owner) {
    unsigned char *busy = &crash->busy[thread];
    __atomic_add_fetch(busy, 1, __ATOMIC_SEQ_CST);
    ((int (*)(int, void *, void *))crash->hook)(number, info, context);
    __atomic_sub_fetch(busy, 1, __ATOMIC_SEQ_CST);
  }
  u64 action[4] = {0, 0, 0, 0};
  if (old > 1) {
    ((handler)old)(number, info, context);
    ask(13, number, 0, (long)action, 8);
  } else {
    ask(13, number, (long)action, 0, 8);
  }
  /* What was sent does not happen again by itself, as a fault does. */
  if (!action[0] && *(int *)((char *)info + 8) <= 0) ask(234, pid, thread, number, 0);
}
