/* A thread counts all the time, while main does what takes a while, twice. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long turns = 0;
static volatile int running = 1;

static void *spin(void *unused) {
    while (running) {
        turns += 1; // @spin
    }
    return unused;
}

/* For so long, or until the other thread has come round. */
static void burn(long most) {
    unsigned long seen = turns;
    for (volatile long i = 0; i < most && turns == seen; i++) {
    }
}

int main(void) {
    pthread_t thread;
    alarm(120);
    pthread_create(&thread, NULL, spin, NULL);
    while (turns == 0) {
        usleep(1000);
    }
    burn(50000000); // @alone
    burn(2000000000); // @together
    running = 0; // @after
    pthread_join(thread, NULL);
    puts("joined");
    return 0;
}
