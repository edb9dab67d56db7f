/* Four named threads that are all alive when one of them passes the marker. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

enum { COUNT = 4 };

typedef struct {
    int number;
    int result;
} Job;

static pthread_barrier_t started;
static pthread_barrier_t finish;

static int work(Job *job) {
    pthread_barrier_wait(&started);
    if (job->number == 0) {
        job->result = 100; // @all_alive
    } else {
        job->result = job->number;
    }
    pthread_barrier_wait(&finish);
    return job->result;
}

static void *run(void *argument) {
    Job *job = argument;
    work(job); // @work
    return NULL;
}

int main(void) {
    static const char *const names[COUNT] = {"reader", "parser", "writer", "logger"};
    pthread_t threads[COUNT];
    Job jobs[COUNT];
    pthread_barrier_init(&started, NULL, COUNT + 1);
    pthread_barrier_init(&finish, NULL, COUNT);
    for (int i = 0; i < COUNT; i++) {
        jobs[i] = (Job){i, 0};
        pthread_create(&threads[i], NULL, run, &jobs[i]);
        pthread_setname_np(threads[i], names[i]);
    }
    pthread_barrier_wait(&started);
    int sum = 0;
    for (int i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL); // @join
        sum += jobs[i].result;
    }
    printf("sum %d\n", sum); // @joined
    return 0;
}
