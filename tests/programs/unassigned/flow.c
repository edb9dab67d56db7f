/* Locals in all kinds of control flow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    int a;
    long b;
};

static volatile int sink;

static __attribute__((noinline)) void fill_stack(void)
{
    volatile unsigned char bytes[4096];
    for (unsigned at = 0; at < sizeof bytes; at++)
        bytes[at] = 0x5a;
    sink = bytes[17];
}

static void set(int *place, int value)
{
    *place = value;
}

static struct pair make(int value)
{
    struct pair made = {value, value * 2L};
    return made;
}

static int work(int count)
{
    int total = 0; /* @entry */
    struct pair pair = make(count);
    char *text;
    for (int at = 0; at < count; at++) {
        int square = at * at;
        if (square % 2) {
            int odd = square + 1;
            total += odd;
        }
        total += square;
    }
    text = "x"; /* @after_loop */
    int turns = 0;
again:
    turns++; /* @label */
    int doubled = turns * 2;
    if (doubled < 6)
        goto again;
    int last = total + (int)pair.b;
    do {
        int inner = last;
        last = inner - 1;
    } while (last > 20);
    switch (count) {
    case 1: {
        int one = 1;
        total += one;
        break;
    }
    case 4: {
        int four = 4;
        total += four;
        break;
    }
    default:
        total = 0;
    }
    int given; /* @late */
    set(&given, total);
    int same = 1, line = same + 1;
    char copied[16];
    strcpy(copied, "abc");
    int sizes[count];
    sizes[0] = line;
    static int kept = 3;
    kept += sizes[0];
    return last + *text + given + copied[0] + doubled + kept;
}

int main(void)
{
    fill_stack();
    int first = work(4); /* @call */
    int second = first;
    printf("%d\n", second);
    return 0;
}
