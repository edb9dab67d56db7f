/* Makes processes, as its first argument says; each works, and ends with what it computed.
 * `many N`, `deep N` (each makes the next), `exec PROGRAM`, `lasting GATE`, `behind GATE`,
 * `spawn`, `shared` (the child has its parent's memory) and `traced` (by its parent). */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int turns;

static int work(int number) {
    int twice = number * 2; // @work
    printf("%d is worked\n", number);
    fflush(stdout);
    return twice;
}

static void turn(void) {
    turns++; // @turn
    usleep(20000);
}

static void wait_for(const char *gate) {
    while (access(gate, F_OK) != 0) {
        turn();
    }
}

static int shares(void *number) {
    _exit(work(*(int *)number));
}

static pid_t make(int number) {
    pid_t child = fork(); // @fork
    if (child == 0) {
        _exit(work(number) % 128); // @in_child
    }
    return child; // @forked
}

static void deepen(int number) {
    if (number > 0 && fork() == 0) {
        deepen(number - 1);
        int status = 0;
        wait(&status);
        _exit(work(number) + WEXITSTATUS(status));
    }
}

/* Traces a child, and leaves it stopped where it is stopped, until it is continued. */
static int trace(pid_t child) {
    int status = 0;
    ptrace(PTRACE_SEIZE, child, NULL, NULL);
    while (waitpid(child, &status, __WALL) == child && WIFSTOPPED(status)) {
        int is_event = status >> 16 == PTRACE_EVENT_STOP;
        if (is_event && WSTOPSIG(status) == SIGSTOP) {
            ptrace(PTRACE_LISTEN, child, NULL, NULL);
        } else {
            ptrace(PTRACE_CONT, child, NULL, is_event ? 0L : (long)WSTOPSIG(status));
        }
    }
    return WEXITSTATUS(status);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "many";
    const char *word = argc > 2 ? argv[2] : "2";
    int one = 1;
    pid_t child = 0;
    if (strcmp(mode, "many") == 0) {
        for (int i = 1; i <= atoi(word); i++) {
            make(i); // @make
        }
    } else if (strcmp(mode, "deep") == 0) {
        deepen(atoi(word));
    } else if (strcmp(mode, "exec") == 0 && fork() == 0) {
        execl(word, word, (char *)NULL);
        _exit(127);
    } else if (strcmp(mode, "lasting") == 0 || strcmp(mode, "behind") == 0) {
        if (fork() == 0) {
            wait_for(word);
            _exit(work(3));
        }
        if (strcmp(mode, "behind") == 0) {
            return 0;
        }
    } else if (strcmp(mode, "spawn") == 0) {
        char *words[] = {argv[0], "many", "0", NULL};
        posix_spawn(&child, argv[0], NULL, NULL, words, environ);
    } else if (strcmp(mode, "shared") == 0) {
        static char stack[1 << 16];
        child = clone(shares, stack + sizeof stack, CLONE_VM | SIGCHLD, &one);
    }
    int status = 0, sum = strcmp(mode, "traced") == 0 ? trace(make(1)) : 0;
    while (wait(&status) > 0) {
        sum += WEXITSTATUS(status);
    }
    printf("ended, together %d\n", sum); // @ended
    return 0;
}
