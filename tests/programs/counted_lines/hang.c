
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *forth(void *given) {
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&second);
    return given;
}
static void *back(void *given) {
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&first);
    return given;
}
static int search(const int *list, int count, int wanted) {
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (list[middle] < wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}
static long sum(long count) {
    volatile long total = 0;
    for (long round = 0; round < count; round++)
        for (int step = 0; step < 1000; step++)
            total += step;
    return total;
}
static int receive(int from) {
    char room[8];
    return (int)read(from, room, sizeof room);
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int list[] = {1, 2, 3, 5}, ends[2];
    pthread_t threads[2];
    puts("here");
    fflush(stdout);
    if (!strcmp(what, "deadlock")) {
        pthread_barrier_init(&both, NULL, 2);
        pthread_create(&threads[0], NULL, forth, NULL);
        pthread_create(&threads[1], NULL, back, NULL);
        pthread_join(threads[0], NULL);
    }
    if (!strcmp(what, "itself")) { pthread_mutex_lock(&first); pthread_mutex_lock(&first); }
    if (!strcmp(what, "busy")) return search(list, 4, 4);
    if (!strcmp(what, "slow")) return (int)sum(1L << 40);
    if (!strcmp(what, "pipe")) return pipe(ends) ? 9 : receive(ends[0]);
    if (!strcmp(what, "socket"))
        return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? 9 : receive(ends[0]);
    if (!strcmp(what, "child")) { if (fork() == 0) pause(); return wait(NULL); }
    if (!strcmp(what, "sleeps")) sleep(1000);
    return 3;
}
