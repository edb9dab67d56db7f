#include <dlfcn.h>

int main(void) {
    void *library = dlopen("./plugin.so", RTLD_NOW);
    if (!library)
        return 1;
    int (*scale)(int) = (int (*)(int))dlsym(library, "scale");
    return scale(5);
}
