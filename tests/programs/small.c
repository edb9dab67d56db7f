/* Integers of one byte, which are numbers, and characters, which are not. */
#include <stdint.h>
#include <stdio.h>
struct reading {
    int8_t low;
    uint8_t high;
    char unit;
};
union word {
    int whole;
    unsigned char bytes[4];
    short halves[2];
};
int main(void) {
    union word word = {0x01020304};
    struct reading one = {-2, 200, 'C'};
    int8_t change = -5;
    uint8_t *at = &one.high;
    printf("%d %d %d%c %d\n", one.low, change, *at, one.unit, word.halves[1]); // @here
    return 0;
}
