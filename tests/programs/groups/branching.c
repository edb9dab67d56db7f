#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ranks of a launcher, or forks, take the same steps; number 2 takes another branch in one. */
static int save(int step) { return step * 3; }

static int work(int number) {
    int total = 0;
    for (int step = 0; step < 4; step++) {
        if (number == 2 && step == 3) /* @branch */
            total += save(step); /* @odd */
        total += step;
    }
    return total;
}

int main(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank)
        return work(atoi(rank)) == 0;
    work(0);
    for (int number = 1; number < 4; number++)
        if (fork() == 0)
            _exit(work(number) == 0);
    while (wait(NULL) > 0)
        ;
    return 0;
}
