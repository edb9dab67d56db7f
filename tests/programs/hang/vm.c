// An interpreter of three instructions. Its `next` never comes to the end of the table.
#include <stdio.h>

enum code { NEXT, ADD, JUMP, STOP };
enum { SLOTS = 6 };

static int slots[SLOTS] = {4, 0, 7, 0, 9, 1};
static volatile long sum;

static unsigned find_index(unsigned key) {
    if (key >= SLOTS)
        return SLOTS;
    if (key > 3)
        return key - 3;
    return key;
}

static unsigned next_key(unsigned key) {
    unsigned at = find_index(key);
    while (at < SLOTS && slots[at] == 0) {
        at++;
    }
    return at;
}

static long add(long value) {
    sum += value;
    return sum;
}

static int run(const enum code *program) {
    unsigned key = 0, count = 0;
    const enum code *at = program;
    for (;;) {
        switch (*at++) {
        case NEXT:
            key = next_key(key);
            if (key == SLOTS) {
                at = program + 3;
            }
            break;
        case ADD:
            add(slots[key]);
            key++;
            break;
        case JUMP:
            count++;
            at = program;
            break;
        default:
            goto done;
        }
    }
done:
    return (int)count;
}

int main(void) {
    static const enum code program[] = {NEXT, ADD, JUMP, STOP};
    printf("%d\n", run(program));
    return 0;
}
