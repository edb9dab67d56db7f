/* Where a step ends by a jump, and where it ends in the caller, at the beginning of a line. */
#include <stdio.h>
#include <stdlib.h>

static int total;

static void add(int i) {
    total += i; // @adds
}

static void count_down(int n) {
    do {
        total += n; // @again
        n--; // @lowers
    } while (n > 0); // @jumps
}

int main(int argc, char **argv) {
    int turns = argc > 1 ? atoi(argv[1]) : 3;
    for (int i = 0; i < turns; i++) {
        add(i);
        total++; // @back
    }
    count_down(turns + 1);
    printf("total %d\n", total);
    return 0;
}
