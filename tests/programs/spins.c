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

static void burn(void) {
    for (volatile int i = 0; i < 50000000; i++) {
    }
}

int main(void) {
    pthread_t thread;
    alarm(120);
    pthread_create(&thread, NULL, spin, NULL);
    while (turns == 0) {
        usleep(1000);
    }
    burn(); // @alone
    burn(); // @together
    running = 0; // @after
    pthread_join(thread, NULL);
    puts("joined");
    return 0;
}
