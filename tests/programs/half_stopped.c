/* One thread takes a stop signal while the main thread, which waits for what it made by vfork,
 * cannot stop; prints `on` and ends once it is continued. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int ready[2];
static volatile pid_t child;

static void *stops(void *unused) {
    char byte;
    if (read(ready[0], &byte, 1) == 1) {
        raise(SIGSTOP);
    }
    puts("on");
    fflush(stdout);
    kill(child, SIGKILL);
    return unused;
}

int main(void) {
    pthread_t thread;
    if (pipe(ready) != 0 || pthread_create(&thread, NULL, stops, NULL) != 0) {
        return 1;
    }
    if (vfork() == 0) {
        child = getpid(); /* the memory is its parent's */
        if (write(ready[1], "", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    pthread_join(thread, NULL);
    return 0;
}
