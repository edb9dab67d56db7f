/* Counts until `running` is set to 0, or for 120 seconds. */
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long counter = 0;
static volatile int running = 1;

static void count(void) {
    while (running) {
        counter += 1; // @count
    }
}

int main(void) {
    alarm(120);
    puts("counting"); // @start
    fflush(stdout);
    count();
    puts("done"); // @done
    return 0;
}
