#include <stdio.h>
static int leaf(int n) {
    int half = n / 3;
    return half;
}
static int low(int n) {
    return leaf(n);
}
static int high(int n) {
    return leaf(n + 10);
}
int main(void) {
    int total = 0, mark = 0;
    for (int n = 0; n < 12; n++) {
        total += low(n);
        if (n == 4)
            mark = 1;
        if (n % 2)
            total += high(n);
    }
    printf("%d %d\n", total, mark);
    return 0;
}
