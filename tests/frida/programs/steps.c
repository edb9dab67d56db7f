#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static jmp_buf outer;
static volatile long sum;
static volatile sig_atomic_t signals;

static int twice(int x) { return x * 2; }
static int thrice(int x) { return x * 3; }
static int (*const table[])(int) = {twice, thrice};

static int chosen(int x) {
    switch (x) {
    case 0: sum += 10; break;
    case 1: sum += 11; break;
    case 2: sum += 12;
    case 3: sum += 13; break;
    case 4: sum += 14; break;
    case 5: sum += 15; break;
    default: sum--;
    }
    return x;
}

static long factorial(int n) {
    if (n <= 1)
        return 1;
    long rest = factorial(n - 1);
    return n * rest;
}

static int loops(void) {
    int i = 0;
    for (int k = 0; k < 3; k++) sum += k;
    while (i < 3)
        i++;
    do { i--; } while (i > 0);
    for (int k = 0; k < 2; k++) {
        if (k == 1)
            continue;
        sum += twice(k) + thrice(k);
    }
    return i;
}

static __attribute__((noinline)) long leaf(long x) {
    sum = x;
    return x + 1;
}

static __attribute__((noinline)) long tail(long x) {
    sum = x * 2;
    return leaf(x + sum);
}

static void leaps(int deep) {
    jmp_buf own;
    if (setjmp(own) == 0)
        longjmp(own, 1);
    if (deep > 0)
        leaps(deep - 1);
    sum += deep;
    if (deep == 0)
        longjmp(outer, 7);
}

static int caught(void) {
    if (setjmp(outer) == 0) {
        leaps(2);
        sum = -1;
    } else {
        sum += 2;
    }
    return 1;
}

static void on_signal(int number) {
    signals = chosen(number - number + 2);
}

static int interrupted(void) {
    int before = signals;
    raise(SIGUSR1);
    before++;
    return before;
}

static void *leaves(void *given) {
    sum += (long)given;
    pthread_exit(NULL);
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

int main(void) {
    int numbers[] = {3, 1, 2};
    pthread_t thread;
    signal(SIGUSR1, on_signal);
    sum = loops();
    for (int i = 0; i < 8; i++) chosen(i);
    sum += factorial(5);
    sum += table[sum & 1](4) + table[0](5);
    sum += tail(3);
    sum += caught();
    sum += interrupted();
    qsort(numbers, 3, sizeof numbers[0], compare);
    pthread_create(&thread, NULL, leaves, (void *)3);
    pthread_join(thread, NULL);
    printf("%ld\n", sum);
    exit(3);
}
