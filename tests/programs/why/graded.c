/* Values that conditions have decided. */
#include <stdio.h>

struct account {
    int level;
    long cents;
    int limit;
};

static int grade(const struct account *a, long requested) {
    int rest = a->limit - 2;
    if (a->cents - requested > rest && a->level > 1) /* @grade */
        return 3;
    return 0;
}

int main(void) {
    struct account all[3] = {{1, 50, 9}, {2, 500, 40}, {3, 45, 30}};
    int sum = 0, bonus = 0;
    for (int i = 0; i < 3; i++) {
        int got = grade(&all[i], 20);
        if (i == 1)
            sum = got;
        if (all[i].level > 2) /* @bonus */
            bonus = 7;
    }
    printf("%d %d\n", sum, bonus); /* @end */
    return 0;
}
