// A fee is charged by the result of a function that all runs pass in the same way.
#include <stdio.h>
#include <stdlib.h>

static int is_due(int day) {
    int late = day - 10;
    return late > 3;
}

static int fee(int day) { return is_due(day) ? 5 : 0; }

int main(int count, char **words) {
    int total = 0;
    for (int at = 1; at < count; at++) {
        int day = atoi(words[at]);
        if (is_due(day))
            total += fee(day);
    }
    printf("total %d\n", total);
    return total != 5;
}
