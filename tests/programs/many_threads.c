/* 500 threads (or as many as the argument says), all waiting at the marker. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2000 };

static pthread_barrier_t started;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_gate(void *argument) {
    pthread_barrier_wait(&started);
    pthread_mutex_lock(&gate); // @gate
    pthread_mutex_unlock(&gate);
    return argument;
}

int main(int argc, char **argv) {
    static pthread_t threads[MOST];
    int count = argc > 1 ? atoi(argv[1]) : 500;
    if (count < 1 || count > MOST) {
        return 2;
    }
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 * 1024);
    pthread_barrier_init(&started, NULL, (unsigned)count + 1);
    pthread_mutex_lock(&gate);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], &small, wait_for_gate, NULL) != 0) {
            return 1;
        }
    }
    pthread_barrier_wait(&started);
    printf("%d threads\n", count); // @all_waiting
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
