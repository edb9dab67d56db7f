#include <stdio.h>
static int work(int i, int k) {
    int total = i * k;
    return total;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 12; i++)
        sum += work(i, 3);
    printf("%d\n", sum);
    return 0;
}
