/* What the skill debugs: sums squares; `main` calls `sum_to`, and that `calculate`. */
#include <stdio.h>
#include <stdlib.h>

static int calculate(int i) {
    int square = i * i;
    return square;
}

static int sum_to(int n) {
    int sum = 0;
    for (int i = 1; i <= n; i++) {
        sum += calculate(i);
    }
    return sum;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 5;
    int sum = sum_to(n);
    printf("sum %d\n", sum);
    return 0;
}
