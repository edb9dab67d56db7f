/* Ignores SIGTERM, and ends by itself only after 120 seconds. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
    if (signal(SIGTERM, SIG_IGN) == SIG_ERR) {
        return 1;
    }
    alarm(120);
    printf("ready %d\n", (int)getpid()); // @ready
    fflush(stdout);
    for (;;) {
        pause(); // @waiting
    }
}
