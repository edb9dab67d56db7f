/* A variable that gcc keeps in a register, also where it does not optimise. */
#include <stdio.h>

int main(int argc, char **argv) {
    register int held = argc;
    int kept = argc;
    for (int turn = 0; turn < 3; turn++) {
        held += 2;
        kept += held; // @held
    }
    printf("%s %d\n", argv[0], kept);
    return 0;
}
