#include <stdio.h>
int first(int n) {
    int acc = 0;
    for (int i = 1; i <= n; i++) // @loop
        acc += i; // @adds
    return acc;
}
int second(int n) {
    int other = 400; // @other
    other += n;
    return other;
}
int main(void) {
    for (int r = 0; r < 2; r++) {
        int a = first(3);
        int b = second(a);
        printf("%d\n", a + b);
    }
    return 0;
}
