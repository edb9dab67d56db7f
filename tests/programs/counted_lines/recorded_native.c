
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int price(const char *kind) {
    if (strcmp(kind, "free") == 0)
        return 0;
    return (int)strlen(kind);
}
static int order(char **kinds, int count) {
    int total = 0;
    for (int at = 0; at < count; at++) {
        int more = price(kinds[at]);
        total += more;
    }
    return total;
}
static int unused(int n) { return n; }
int main(int argc, char **argv) {
    int total = order(argv + 1, argc - 1);
    printf("total %d\n", total);
    if (total > 8) abort();
    return total > 4 ? unused(1) : 0;
}
