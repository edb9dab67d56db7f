/* Two threads that each hold the lock that the other wants, and a main that waits for both. */
#include <pthread.h>
#include <stdio.h>

typedef struct {
    const char *name;
    pthread_mutex_t lock;
} Account;

static Account savings = {"savings", PTHREAD_MUTEX_INITIALIZER};
static Account current = {"current", PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t both_hold_one;

static int transfer(Account *from, Account *to) {
    pthread_mutex_lock(&from->lock);
    pthread_barrier_wait(&both_hold_one);
    int error = pthread_mutex_lock(&to->lock); // @wants
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
    return error;
}

static void *save(void *unused) {
    transfer(&current, &savings);
    return unused;
}

static void *spend(void *unused) {
    transfer(&savings, &current);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&both_hold_one, NULL, 3);
    pthread_create(&threads[0], NULL, save, NULL);
    pthread_create(&threads[1], NULL, spend, NULL);
    pthread_barrier_wait(&both_hold_one);
    puts("both hold one");
    fflush(stdout);
    pthread_join(threads[0], NULL); // @joins
    pthread_join(threads[1], NULL);
    return 0;
}
