/* Handles a request every 5 ms for 120 seconds, as an app that waits for its user. */
#include <stdio.h>
#include <unistd.h>

static volatile long handled = 0;

static int handle(int request) {
    int doubled = request * 2;
    handled += 1; // @handled
    return doubled;
}

static void serve(void) {
    for (int request = 1;; request++) {
        int answer = handle(request); // @call
        (void)answer;
        usleep(5 * 1000);
    }
}

int main(void) {
    alarm(120);
    puts("serving");
    fflush(stdout);
    serve();
    return 0;
}
