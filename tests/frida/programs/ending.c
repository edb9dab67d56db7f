#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long sum;

static void __attribute__((noinline)) step(long by) { sum += by; }
static void __attribute__((noinline)) last_step(void) { step(1000); }

/* Ends in the way that it is told. */
int main(int argc, char **argv) {
    atexit(last_step);
    for (long i = 0; i < 100; i++)
        step(i);
    if (argc > 1 && !strcmp(argv[1], "exit"))
        exit(3);
    if (argc > 1 && !strcmp(argv[1], "group"))
        syscall(SYS_exit_group, 3);
    if (argc > 1 && !strcmp(argv[1], "quick"))
        _exit(3);
    if (argc > 1 && !strcmp(argv[1], "kill"))
        raise(9);
    return 3;
}
