/* Integers of one byte, which are numbers, and characters, which are not. */
#include <stdint.h>
#include <stdio.h>
struct reading {
    int8_t low;
    uint8_t high;
    char unit;
};
int main(void) {
    struct reading one = {-2, 200, 'C'};
    int8_t change = -5;
    uint8_t *at = &one.high;
    printf("%d %d %d%c\n", one.low, change, *at, one.unit); // @here
    return 0;
}
