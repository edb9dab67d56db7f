/* Globals of several kinds, changed by name and through a pointer. */
#include <stdio.h>

struct config {
    const char *name;
    int limits[4];
    double ratio;
};

int counter = 0;
static int hidden = 7;
unsigned long flags = 0xff00;
const char *title = "globals";
struct config config = {"default", {1, 2, 3, 4}, 0.5};

static void tick(void) {
    counter += 1; // @tick
}

static void overwrite(int *target) {
    *target = 42; // @overwrite
}

int main(void) {
    tick(); // @start
    tick();
    overwrite(&counter);
    hidden -= 1;
    config.limits[2] = 30; // @limits
    printf("%s: counter %d, hidden %d, flags %lx, limit %d\n", title, counter, hidden, flags,
           config.limits[2]); // @end
    return 0;
}
