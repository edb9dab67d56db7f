
#include <pthread.h>
#include <unistd.h>
static pthread_barrier_t all;
static int add(int n) { pthread_barrier_wait(&all); return n + 1; }
static void *run(void *given) {
    int sum = 0;
    sum = add(*(int *)given);
    return 0;
}
int main(int argc, char **argv) {
    int given[] = {7, 7, 7};
    pthread_t made[3];
    pthread_barrier_init(&all, 0, 3);
    for (int at = 0; at < 3; at++) pthread_create(made + at, 0, run, given + at);
    for (int at = 0; at < 3; at++) pthread_join(made[at], 0);
    if (fork() == 0) { setsid(); for (;;) pause(); }
}
