#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds;

static long __attribute__((noinline)) work(long seed) {
    long x = seed;
    x = x * 3 + 1;
    x ^= x >> 3;
    if (x & 1)
        x += seed;
    return x;
}

static void *hammer(void *given) {
    long x = (long)given;
    for (long i = 0; i < rounds; i++)
        x = work(x);
    return (void *)x;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 1000;
    int count = argc > 2 ? atoi(argv[2]) : 4;
    pthread_t threads[16];
    unsigned long sum = 0;
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, hammer, (void *)(i + 1));
    for (int i = 0; i < count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (unsigned long)result;
    }
    printf("%lu\n", sum);
    return 7;
}
