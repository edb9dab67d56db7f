
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *names[] = {"a, b", "q\"t\n|x", "{br}"};
static int worth(int at, const char *name) {
    int result = at * 3 + (name[0] == 'q');
    if (at > 1000) {
        result = -1;
    }
    return result;
}
static int unused(int at) {
    int twice = at * 2;
    return twice;
}
int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 6, total = 0;
    for (int at = 0; at < count; at++) {
        total += worth(at, names[at % 3]);
    }
    if (argc > 2 && !strcmp(argv[2], "stays")) { puts("here"); fflush(stdout); for (;;) pause(); }
    if (argc > 2 && !strcmp(argv[2], "aborts")) abort();
    if (argc > 2 && !strcmp(argv[2], "calls")) {
        puts("here"); fflush(stdout);
        for (int at = 0;; at++) { total += worth(at, names[at % 3]); usleep(2000); }
    }
    printf("total %d\n", total);
    return total == 0 ? unused(total) : 3;
}
