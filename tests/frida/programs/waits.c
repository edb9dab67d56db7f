#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile long ticks;
volatile long shared[4];

long __attribute__((noinline)) tick(long by) {
    ticks += by;
    return ticks;
}
long __attribute__((noinline)) add(long a, long b) { return a + b; }
long __attribute__((noinline)) read_at(long *where) { return *where; }

static void *sleeps(void *given) {
    (void)given;
    struct timespec time = {0, 200000000};
    int result = nanosleep(&time, NULL);
    printf("slept %d %d\n", result, result ? errno : 0);
    return NULL;
}

static void *ticks_on(void *given) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (long i = 0; i < (long)given; i++) {
        tick(1);
        shared[0] = i & ~7L;
    }
    return NULL;
}

/* Ends when its standard input does. */
int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    pthread_t one, two;
    long rounds = argc > 1 ? atol(argv[1]) : 100;
    pthread_create(&one, NULL, sleeps, NULL);
    pthread_create(&two, NULL, ticks_on, (void *)rounds);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("ticks %ld %ld %ld\n", ticks, add(1, 2), read_at((long *)&shared[0]));
    char letter;
    while (read(0, &letter, 1) > 0)
        tick(1000);
    printf("ends\n");
    return 5;
}
