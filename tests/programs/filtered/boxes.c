#include <stdio.h>
#include <stdlib.h>
struct box { int n; int total; };
static void add(struct box *b, int v) {
    b->total += v;
    b->n++;
}
static void twice(struct box *b, int v) {
    add(b, v);
    add(b, v);
}
static int mark(int i) {
    return i;
}
int main(int argc, char **argv) {
    int step = argc > 1 ? atoi(argv[1]) : 1;
    struct box b = {0, 0};
    for (int i = 0; i < 6; i++) {
        if (i % 2)
            twice(&b, i * step);
        else
            add(&b, i * step);
        if (i == 3)
            mark(i);
    }
    printf("%d %d\n", b.n, b.total);
    return 0;
}
