/* Tells what an exec hands on, and whether its start is as the kernel made it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

extern char **environ;
extern char _start[];
static int early;

__attribute__((constructor)) static void before(void) { early = 1; }

int main(int argc, char **argv) {
    sigset_t blocked;
    char text[64] = "";
    for (int i = 0; i < argc - 1; i++) {
        printf("word %s\n", argv[i + 1]);
    }
    for (char **one = environ; *one != NULL; one++) {
        printf("environment %s\n", *one);
    }
    FILE *file = fopen("/proc/self/environ", "r");
    size_t got = fread(text, 1, sizeof text, file);
    int begins = getauxval(AT_ENTRY) == (unsigned long)_start;
    printf("its own %zu %s, begins %d, early %d\n", got, text, begins, early);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number < 32; number++) {
        if (sigismember(&blocked, number) == 1) {
            printf("blocked %d\n", number);
        }
    }
    return 9;
}
