/* Where a step ends by a jump, and where it ends in the caller, at the beginning of a line. */
#include <stdio.h>

static int total;

static void add(int i) {
    total += i; // @adds
}

static void count_down(int n) {
    do {
        total += n; // @again
        n--;
    } while (n > 0); // @jumps
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        add(i);
        total++; // @back
    }
    count_down(4);
    printf("total %d\n", total);
    return 0;
}
