// Threads serve for ever; each counts in a place of its own, which standard output tells of.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile long served[4];

__attribute__((noinline)) long serve(long who, long request) {
    served[who]++; /* @serve */
    return request + who;
}

static void *work(void *given) {
    for (long request = 0;; request++) {
        serve((long)given, request);
        if (request % 64 == 0) usleep(500);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (long who = 0; who < 4; who++) pthread_create(&thread, NULL, work, (void *)who);
    for (;;) {
        printf("%ld %ld %ld %ld\n", served[0], served[1], served[2], served[3]);
        fflush(stdout);
        usleep(20000);
    }
}
