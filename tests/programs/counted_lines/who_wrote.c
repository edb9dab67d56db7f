
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct order { char code[8]; long total; };
static long all;
static void add(struct order *order, int count, long cents) {
    order->total += count * cents;
    all += 1;
}
static void name(struct order *order, const char *text) {
    char *to = order->code;
    while (*text)
        *to++ = *text++;
    *to = 0;
}
static long check(const struct order *order) {
    return order->total;
}
static void twice(int *number) {
    *number *= 2;
}
static int local(void) {
    int number = 3;
    twice(&number);
    number += 1;
    return number;
}
int main(void) {
    struct order *order = calloc(1, sizeof *order);
    for (int round = 0; round < 5; round++)
        add(order, 2, 150);
    name(order, "A-1004-XY");
    printf("%ld\n", check(order));
    add(order, 1, 5);
    return local();
}
