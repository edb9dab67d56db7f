#include <stdio.h>
#include <stdlib.h>

static long __attribute__((noinline)) down(long n) {
    if (n == 1)
        return 1;
    return down(n - 1) + 1;
}

int main(int argc, char **argv) {
    long depth = argc > 1 ? atol(argv[1]) : 10, sum = 0;
    for (int i = 0; i < 3; i++)
        sum += down(depth);
    printf("%ld\n", sum);
    return 4;
}
