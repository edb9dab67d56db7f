
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int at(int *place) {
    return *place;
}
static int deep(int depth) {
    char room[256];
    memset(room, depth & 1, sizeof room);
    return depth < 0 ? 0 : deep(depth + 1) + room[7];
}
static int share(int sum, int among) {
    return sum / (among - 2);
}
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int first = 1, second = 2;
    if (!strcmp(what, "null")) return at(NULL);
    if (!strcmp(what, "deep")) return deep(0);
    if (!strcmp(what, "zero")) return share(10, second);
    if (!strcmp(what, "assert")) assert(first == second);
    if (!strcmp(what, "abort")) abort();
    if (!strcmp(what, "wild")) return at((int *)0x7fff12345678UL);
    if (!strcmp(what, "literal")) strcpy((char *)"text", "other");
    if (!strcmp(what, "jump")) ((void (*)(void))0x1234)();
    if (!strcmp(what, "twice")) { void *block = malloc(8); free(block); free(block); }
    if (!strcmp(what, "moves")) return chdir("/") ? 9 : at(NULL);
    if (!strcmp(what, "usr1")) raise(SIGUSR1);
    if (!strcmp(what, "daemon")) { if (daemon(1, 0) == 0) for (;;) pause(); }
    if (!strcmp(what, "stays")) { puts("here"); fflush(stdout); for (;;) pause(); }
    if (!strcmp(what, "reads")) printf("end of input: %d\n", getchar() == EOF);
    for (int i = 0; !strcmp(what, "prints") && i < 200000; i++) printf("line %d\n", i);
    if (!strcmp(what, "prints")) return at(NULL);
    return 3;
}
