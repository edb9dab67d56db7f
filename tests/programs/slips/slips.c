// Small bugs, chosen by the first argument.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void product(int w, int h) {
    int bytes = w * h; // @product
    char *pixels = malloc((size_t)w);
    pixels[bytes] = 1;
}

static const char *name_of(int kind) {
    const char *found = NULL;
    switch (kind) {
    case 1:
        found = "one";
    default:
        found = NULL; // @missing_break
    }
    return found;
}

static void missing_break(int kind) { printf("%zu\n", strlen(name_of(kind))); }

static int *buckets[16];

static void far_index(int key) {
    int slot = key % 16; // @far_index
    buckets[0] = malloc(40);
    printf("%d\n", *buckets[slot * 100000]);
}

static void below_zero(unsigned n) {
    int data[8] = {1};
    long sum = 0;
    for (unsigned i = n - 1; i >= 0; i--) // @below_zero
        sum += data[i];
    printf("%ld\n", sum);
}

int main(int argc, char **argv) {
    const char *bug = argc > 1 ? argv[1] : "";
    if (!strcmp(bug, "product"))
        product(70000, 70000);
    if (!strcmp(bug, "missing_break"))
        missing_break(1);
    if (!strcmp(bug, "far_index"))
        far_index(13);
    if (!strcmp(bug, "below_zero"))
        below_zero(8);
    return 0;
}
