/* Bytes at a known place, a global and a local that change three times, a line with two calls. */
#include <stdio.h>

struct pair {
    int first;
    int second;
};

unsigned char bytes[8] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
struct pair pair = {1, 2};
int counter = 0;

static void count(void) {
    counter += 1; // @count
}

static int twice(int n) {
    return 2 * n; // @twice
}

static int minus(int n) {
    return -n; // @minus
}

int main(void) {
    int local = 5;
    count(); // @ready
    count();
    count();
    local += 1; // @local
    local += 1;
    local += 1;
    pair.second = 20;
    int sum = twice(local) + minus(local); // @calls
    printf("%d %d %d %d %02x\n", counter, local, pair.second, sum, bytes[0]); // @end
    return 0;
}
