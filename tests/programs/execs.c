/* Runs the program that its second argument names, in the way that its first says, and ends with
 * its status: `fork`, `vfork`, `spawn`, `copied` (a child by no function that is known to fork),
 * `system`, `popen`, `fails` (it cannot be run), `many N`, `later` (when it is told to by
 * its input), and in its own place `exec`, `fexec`, `chain` and `thread`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *target;
static char *words[] = {NULL, "4", NULL};
static char *environment[] = {"A=1", "B=", "odd", NULL};

static int ended(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int spawned(const char *program) {
    pid_t child;
    if (posix_spawn(&child, program, NULL, NULL, words, environment) != 0) {
        return 127;
    }
    return ended(child);
}

static int executes(pid_t child) {
    if (child == 0) {
        execve(target, words, environment);
        _exit(127);
    }
    return ended(child);
}

/* Ends with 127, as its children do, where all goes on as it should. */
static int fails(void) {
    const char *const none[] = {"/nowhere/at/all", "/etc/passwd", target};
    for (int i = 0; i < 3; i++) {
        execve(none[i], words, environment);
        printf("%s\n", strerror(errno));
    }
    fflush(stdout);
    return spawned(target) == 127 && executes(vfork()) == 127 ? executes(fork()) : 1;
}

static void *runs(void *unused) {
    for (;;) {
        pause();
    }
    return unused;
}

static void *becomes(void *unused) {
    execve(target, words, environment);
    return unused;
}

int main(int argc, char **argv) {
    const char *mode = argv[1];
    char text[4096] = "";
    words[0] = argv[2];
    target = argv[2];
    if (strcmp(mode, "fork") == 0) {
        return executes(fork());
    } else if (strcmp(mode, "vfork") == 0) {
        return executes(vfork());
    } else if (strcmp(mode, "copied") == 0) {
        return executes((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    } else if (strcmp(mode, "later") == 0) {
        return fgets(text, 9, stdin) != NULL ? spawned(target) : 1;
    } else if (strcmp(mode, "spawn") == 0) {
        sigset_t some;
        sigemptyset(&some);
        sigaddset(&some, SIGUSR1);
        sigaddset(&some, SIGSEGV);
        sigaddset(&some, SIGURG);
        sigprocmask(SIG_BLOCK, &some, NULL);
        return spawned(target);
    } else if (strcmp(mode, "system") == 0) {
        snprintf(text, sizeof text, "%s 4; exit $?", target);
        return WEXITSTATUS(system(text));
    } else if (strcmp(mode, "popen") == 0) {
        snprintf(text, sizeof text, "%s 4; exit $?", target);
        FILE *output = popen(text, "r");
        while (fgets(text, sizeof text, output) != NULL) {
            fputs(text, stdout);
        }
        return WEXITSTATUS(pclose(output));
    } else if (strcmp(mode, "many") == 0) {
        int sum = 0, count = argc > 3 ? atoi(argv[3]) : 1;
        pid_t children[100];
        for (int i = 0; i < count; i++) {
            posix_spawn(&children[i], target, NULL, NULL, words, environment);
        }
        for (int i = 0; i < count; i++) {
            sum += ended(children[i]);
        }
        printf("together %d\n", sum);
        return 0;
    } else if (strcmp(mode, "exec") == 0) {
        execve(target, words, environment);
    } else if (strcmp(mode, "fexec") == 0) {
        fexecve(open(target, O_RDONLY | O_CLOEXEC), words, environment);
    } else if (strcmp(mode, "chain") == 0) {
        execl(argv[0], argv[0], "exec", target, NULL);
    } else if (strcmp(mode, "thread") == 0) {
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) {
            pthread_create(&threads[i], NULL, i < 2 ? runs : becomes, NULL);
        }
        pthread_join(threads[2], NULL);
    }
    return strcmp(mode, "fails") == 0 ? fails() : 126;
}
