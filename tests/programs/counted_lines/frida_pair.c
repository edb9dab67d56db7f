
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile long total;
static void *work(void *argument) {
    for (int i = 0; i < 3; i++) {
        total += (long)argument; // @same
        usleep(1000);
    }
    return 0;
}
int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("total %ld\n", total);
    return 0;
}
