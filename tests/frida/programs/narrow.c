#include <pthread.h>
#include <signal.h>
#include <unistd.h>

// The least alternate stack that the system accepts, as runtimes give their threads.
static volatile int depth;

__attribute__((noinline)) int fall(int n) {
    volatile char room[512];
    room[0] = (char)n;
    depth++;
    return fall(n + 1) + room[0];
}

static void *run(void *given) {
    static char narrow[1 << 16];
    long least = sysconf(_SC_MINSIGSTKSZ); // which may be less than the kernel's own bound
    stack_t own = {.ss_sp = narrow, .ss_size = (size_t)(least > 2048 ? least : 2048)};
    if (sigaltstack(&own, 0) != 0)
        return given;
    fall(0);
    return given;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 0;
}
