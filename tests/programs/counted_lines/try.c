
#include <stdio.h>
#include <stdlib.h>
struct order { long count, total; };
static int limit(int times) {
    int top = times * 2;
    return top + 1;
}
static long add(struct order *order, int count) {
    order->total += count * 10;
    return order->total;
}
int main(void) {
    struct order *order = calloc(1, sizeof *order);
    for (int i = 0; i < 4; i++) {
        long now = add(order, i);
        printf("round %d: %ld\n", i, now);
    }
    int most = limit(4);
    int *none = order->total > 100000 ? NULL : &most;
    printf("most %d\n", *none);
    return 3;
}
