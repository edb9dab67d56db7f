
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t ready, released;

static void *work(void *unused) {
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&released);
    return unused;
}

int main(void) {
    pthread_t threads[500];
    pthread_barrier_init(&ready, NULL, 501);
    pthread_barrier_init(&released, NULL, 501);
    for (int i = 0; i < 500; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    pthread_barrier_wait(&ready);
    puts("ready"); // @ready
    pthread_barrier_wait(&released);
    for (int i = 0; i < 500; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
