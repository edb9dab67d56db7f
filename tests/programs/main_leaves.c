// The main thread leaves, another goes on, and libc ends the program after it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void last(void) { puts("exit handler"); }

static void *work(void *given) {
    puts("worked");
    return given;
}

int main(void) {
    pthread_t thread;
    atexit(last);
    pthread_create(&thread, NULL, work, NULL);
    pthread_exit(NULL);
}
