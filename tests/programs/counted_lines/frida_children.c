
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int work(int n) { return n * 2; }
int main(void) {
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (!child) _exit(work(i));
        int status;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 2 * i) printf("died: %d\n", status);
    }
    printf("%d\n", WEXITSTATUS(system("exit 3")));
    return work(4);
}
