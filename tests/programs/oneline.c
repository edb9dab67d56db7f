#include <stdio.h>

struct point { int x; };

int helper(long k) { return k % 7; } // @helper
int twice(int v) { return v * 2; } // @twice
int field(struct point *p) { return p->x; } // @field

int main(void) {
    struct point here = {5};
    int total = 0;
    for (long i = 1; i < 5; i++) {
        total += helper(i); // @calls
        total += twice(total) + field(&here);
    }
    printf("%d\n", total);
    return 0;
}
