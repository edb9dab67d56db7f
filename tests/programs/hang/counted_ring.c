// Counts the nodes of a list that has become a ring.
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; int v; };
static long count(struct node *node) {
    long n;
    for (n = 0; node; node = node->next, n++) {
        if (node->v < 0)
            n += 2;
    }
    return n;
}
int main(void) {
    struct node *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b), *c = calloc(1, sizeof *c);
    a->next = b;
    b->next = c;
    c->next = a;
    printf("%ld\n", count(a));
}
