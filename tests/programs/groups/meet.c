#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A rank of a job of four, of which rank 2 takes another branch: meet.c [crash] */
static void all_reduce(int step) {
    (void)step;
    for (;;)
        pause(); /* @meet */
}

static void save(int step) {
    (void)step;
    for (;;)
        pause(); /* @odd */
}

static void take_step(int rank, int step, const char *how) {
    int *found = NULL;
    int is_odd = rank == 2; /* @step */
    if (is_odd && strcmp(how, "crash") == 0)
        *found = step; /* @crash */
    if (is_odd)
        save(step);
    all_reduce(step);
}

int main(int argc, char **argv) {
    int rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    printf("rank %d\n", rank);
    fflush(stdout);
    take_step(rank, 119, argc > 1 ? argv[1] : "");
    return 0;
}
