#include <unistd.h>

static volatile long naps;

static void nap(void) {
    usleep(50000); // @naps
    naps += 1;
}

int main(void) {
    for (int i = 0; i < 2400; i++) {
        nap();
    }
    return 0;
}
