/* Ends as told by its argument: an exit status, or abort, segv, term. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "0";
    printf("ending: %s\n", how); // @ending
    fflush(stdout);
    if (strcmp(how, "abort") == 0) {
        abort(); // @abort
    }
    if (strcmp(how, "segv") == 0) {
        int *volatile nowhere = NULL;
        *nowhere = 1; // @segv
    }
    if (strcmp(how, "term") == 0) {
        raise(SIGTERM); // @term
    }
    return atoi(how);
}
