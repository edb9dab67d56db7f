// Calls work(1) to work(10) and prints the sum; with an argument two threads call it; with
// "forever" it goes on until the global `go` is 0.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long counter = 0;
int bonus = 1;
volatile int go = 1;

static int twice(int value) {
    int doubled = value * 2; /* @inner */
    return doubled;
}

int work(int n) {
    int result = twice(n); /* @call */
    result += bonus;       /* @after */
    __sync_fetch_and_add(&counter, result); /* @add */
    return result;
}

static void *worker(void *number) {
    work((int)(long)number); /* @worker */
    return NULL;
}

static void threads(void) {
    pthread_t made[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&made[i], NULL, worker, (void *)(i + 100));
    for (int i = 0; i < 2; i++)
        pthread_join(made[i], NULL);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "forever") == 0) {
        printf("running\n");
        fflush(stdout);
        while (go) {
            work(1);
            usleep(1000);
        }
    } else if (argc > 1) {
        threads();
    } else {
        for (int n = 1; n <= 10; n++)
            work(n); /* @loop */
    }
    printf("counter %ld\n", counter);
    return 0;
}
