#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL || argc < 2)
        return 9;
    int (*added)(int) = (int (*)(int))dlsym(library, "added");
    printf("%d\n", added(4));
    return 0;
}
