/* Forks a child: `fork` and `exec` leave it running behind, `wait` waits for it.
 * Its second argument is how many seconds the child lives. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>


static void be_child(unsigned seconds) {
    printf("child %d\n", (int)getpid()); // @child
    fflush(stdout);
    sleep(seconds);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "fork";
    const char *seconds = argc > 2 ? argv[2] : "120";
    if (strcmp(mode, "child") == 0) {
        be_child((unsigned)atoi(seconds)); // @executed
        return 0;
    }
    fflush(stdout);
    pid_t child = fork(); // @fork
    if (child == 0) {
        if (strcmp(mode, "exec") == 0) {
            execl(argv[0], argv[0], "child", seconds, (char *)NULL); // @exec
            _exit(127);
        }
        if (strcmp(mode, "wait") == 0) {
            _exit(5); // @quick_child
        }
        be_child((unsigned)atoi(seconds));
        _exit(0);
    }
    printf("parent %d of %d\n", (int)getpid(), (int)child); // @parent
    fflush(stdout);
    if (strcmp(mode, "wait") == 0) {
        int status = 0;
        waitpid(child, &status, 0);
        printf("child ended with %d\n", WEXITSTATUS(status)); // @waited
    }
    return 0;
}
