/* Sums squares in a loop and ends with status 3. */
#include <stdio.h>
#include <stdlib.h>

static int calculate(int i) {
    printf("step %d\n", i); // @step
    return i * i;           // @return
}

static int sum_to(int n) {
    int sum = 0; // @start
    for (int i = 1; i <= n; i++) {
        sum += calculate(i); // @add
    }
    return sum; // @done
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 5;
    int scale = 1; // @main
    int sum = 0;
    sum = sum_to(n);                 // @call
    printf("sum %d\n", sum * scale); // @print
    return 3;                        // @exit
}
