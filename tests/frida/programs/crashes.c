#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int counter;

static void again(int number) {
    (void)number;
    signal(SIGSEGV, SIG_DFL);
    printf("handled\n");
    fflush(stdout);
}

static int __attribute__((noinline)) reads(int *where) { return *where; }

static void *elsewhere(void *where) { return (void *)(long)reads(where); }

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "segv";
    counter = argc;
    printf("begins\n");
    fflush(stdout);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "divide"))
        return 10 / (counter - argc);
    if (!strcmp(how, "ill"))
        __builtin_trap();
    if (!strcmp(how, "handled"))
        signal(SIGSEGV, again);
    if (!strcmp(how, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, elsewhere, NULL);
        pthread_join(thread, NULL);
    }
    return reads((int *)8);
}
