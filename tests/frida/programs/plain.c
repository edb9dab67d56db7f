#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int table[16];
int (*chosen)(int);

static int twice(int x) { return x * 2; }
static int thrice(int x) { return x * 3; }

static int classify(int x) {
    switch (x % 7) {
    case 0: return 10;
    case 1: return 11;
    case 2: return 12;
    case 3: return 13;
    case 4: return 14;
    default: return x < 50 ? 1 : 2;
    }
}

static long recurse(int n) {
    if (n <= 1)
        return 1;
    return n * recurse(n - 1);
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv) {
    long sum = 0;
    double ratio = 1.0;
    for (int i = 0; i < 100; i++) {
        chosen = i & 1 ? twice : thrice;
        sum += chosen(i);
        sum += classify(i);
        table[i & 15] = (int)(sum * 7919 % 1000);
        ratio = ratio * 1.01 + (double)i / 3.0;
        if (i % 10 == 3)
            continue;
        sum ^= strlen("seven!!") + i;
    }
    qsort(table, 16, sizeof table[0], compare);
    for (int i = 0; i < 16; i++)
        printf("%d ", table[i]);
    printf("\n%ld %.6f %ld\n", sum, ratio, recurse(10));
    fprintf(stderr, "%d arguments, the last is %s\n", argc, argc > 1 ? argv[argc - 1] : "-");
    return (int)(sum % 50);
}
