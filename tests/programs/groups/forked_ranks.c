#include <sys/wait.h>
#include <unistd.h>

/* Three forks take the same steps; one of them takes another value. */
static int take_step(int rank, int step) {
    int value = rank == 2 && step == 2 ? -1 : step * 10;
    return value; /* @step */
}

int main(void) {
    for (int rank = 1; rank <= 3; rank++)
        if (!fork()) {
            for (int step = 0; step < 4; step++)
                take_step(rank, step);
            return 0;
        }
    while (wait(0) > 0)
        ;
    return 0;
}
