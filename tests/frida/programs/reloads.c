// Loads the library that it is given as often as it is told, and calls it twice each time.
#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int sum = 0;
    for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 0); i++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (library == NULL)
            return 99;
        int (*added)(int) = (int (*)(int))dlsym(library, "added");
        sum += added(1) + added(1);
        dlclose(library);
    }
    return sum;
}
