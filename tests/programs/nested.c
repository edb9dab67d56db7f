#include <stdio.h>

static int down(int n) {
    if (n == 0) {
        return 0; // @deepest
    }
    int below = down(n - 1);
    return below + n;
}

int main(void) {
    int sum = down(3); // @calls
    printf("%d\n", sum);
    return 0;
}
