/* Calls itself 10,000 deep (or as deep as its argument says). */
#include <stdio.h>
#include <stdlib.h>

static long descend(int depth) {
    if (depth == 0) {
        return 0; // @bottom
    }
    return depth + descend(depth - 1); // @deeper
}

int main(int argc, char **argv) {
    int depth = argc > 1 ? atoi(argv[1]) : 10000;
    printf("sum %ld\n", descend(depth)); // @call
    return 0;
}
