/* Has a function that never returns, to be called from an expression. */
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long spins = 0;

int forever(void) {
    for (;;) {
        spins += 1; // @spin
    }
}

int twice(int n) {
    return 2 * n; // @twice
}

int main(int argc, char **argv) {
    (void)argv;
    alarm(120);
    int answer = twice(21);
    printf("answer %d\n", answer); // @ready
    return argc > 1 ? forever() : 0;
}
