#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rank of a job: rank.c STATUS [read|crash] */
static int take_step(int rank, int step) {
    int mine = rank * step; /* @step */
    return mine + 1;
}

int main(int argc, char **argv) {
    int rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    int total = 0;
    char line[80] = "";
    const char *word = argc > 2 ? argv[2] : "";
    if (rank == 0 && strcmp(word, "read") == 0 && fgets(line, sizeof line, stdin) != NULL)
        printf("rank 0 read %s", line);
    for (int step = 0; step < 3; step++)
        total += take_step(rank, step);
    if (rank == 1 && strcmp(word, "crash") == 0)
        *(volatile int *)(long)argc = total; /* @crash */
    printf("rank %d: %d\n", rank, total);
    fprintf(stderr, "rank %d ends\n", rank);
    return rank == 1 ? atoi(argv[1]) : 0;
}
