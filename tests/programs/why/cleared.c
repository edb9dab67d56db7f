/* Memory that is zero since it was allocated, and to which a zero was assigned later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer {
    int mode;
    long sum;
    const char *name;
    struct peer *next;
};

static struct peer *known[2];

static struct peer *lookup(const char *name) {
    for (int i = 0; i < 2; i++)
        if (known[i] && !strcmp(known[i]->name, name))
            return known[i];
    return NULL; /* @none */
}

int main(void) {
    struct peer *one = calloc(1, sizeof *one);
    one->name = "one";
    one->next = lookup("two"); /* @set */
    known[0] = one;
    /* The block's first words are written often. */
    for (int i = 0; i < 10000; i++)
        one->sum += i;
    return one->next->mode; /* @end */
}
