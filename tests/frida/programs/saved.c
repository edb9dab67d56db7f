// A caller keeps a value in a register, which the function that it calls saves and uses.
#include <stdio.h>

__attribute__((noinline)) static long inner(long given) {
    __asm__ volatile("" ::: "rbx", "rbp", "r12", "r13", "r14", "r15");
    printf("%ld\n", given);
    return given * 2;
}

__attribute__((noinline)) static long outer(long kept) {
    long got = inner(kept + 1);
    return got + kept;
}

__attribute__((noinline)) static double scaled(double real) {
    return real * 3;
}

int main(int argc, char **argv) {
    (void)argv;
    printf("%ld\n", outer(argc + 40));
    printf("%g\n", scaled(argc - 1));
    return 0;
}
