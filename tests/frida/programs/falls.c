#include <pthread.h>

volatile int depth;

__attribute__((noinline)) int fall(int n) {
    volatile char room[512];
    room[0] = (char)n;
    depth++;
    return fall(n + 1) + room[0];
}

static void *run(void *given) {
    fall(0);
    return given;
}

int main(int argc, char **argv) {
    pthread_t thread;
    (void)argv;
    if (argc < 2)
        return fall(0);
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 0;
}
