#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static int child(void) {
    sigset_t now;
    sigprocmask(SIG_BLOCK, 0, &now);
    int blocks = sigismember(&now, SIGSEGV);
    return blocks + 4;
}
int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    int status;
    if (fork() == 0) _exit(child());
    wait(&status);
    return WEXITSTATUS(status);
}
