#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int __attribute__((noinline)) step(int x) { return x * 2 + 1; }

int main(void) {
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            sigset_t all;
            sigfillset(&all);
            sigprocmask(SIG_UNBLOCK, &all, NULL);
            _exit(step(step(i)));
        }
        int status;
        waitpid(child, &status, 0);
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
        sum += step(i);
    }
    printf("%d\n", sum);
    return system("exit 3") == 3 << 8 ? 0 : 1;
}
