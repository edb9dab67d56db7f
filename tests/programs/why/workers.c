/* A program that forks workers, each of which computes from its environment and its input. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct job {
    int id;
    int sum;
};

static void work(struct job *job, int number)
{
    int scale = atoi(getenv("SCALE"));
    job->sum = number * scale; /* @sum */
    if (job->id == 2)
        job->sum = -number; /* @wrong */
    printf("%d\n", job->sum); /* @end */
}

int main(void)
{
    int number = 0;
    if (scanf("%d", &number) != 1)
        return 2;
    for (int id = 1; id <= 3; id++) {
        if (fork() == 0) {
            struct job job = {id, 0};
            work(&job, number + id);
            fflush(stdout);
            _exit(0);
        }
        wait(NULL);
    }
    return 0;
}
