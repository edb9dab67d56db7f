/* Built with -O2: `u` is computed and has no place, `b` has no value any more. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int work(int a, int b) {
    int t = a * 3;
    int u = t + b;
    printf("%d\n", u);
    return u + 1; // @late
}

int main(int argc, char **argv) {
    int r = work(argc, atoi(argv[0] + 1) + 5);
    printf("%d\n", r);
    return 0;
}
