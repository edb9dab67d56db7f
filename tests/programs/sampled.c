// Prints once, and then calls a function far more often than all calls can be kept.
#include <stdio.h>

static long total;

__attribute__((noinline)) static long work(long i) {
    long half = i / 2;
    total += half; /* @half */
    return half;
}

int main(int count, char **words) {
    puts("first");
    fflush(stdout);
    for (long i = 0; i < (count > 1 ? 200000 : 3); i++) work(i);
    (void)words;
    return 3;
}
