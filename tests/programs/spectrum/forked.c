#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int doubled(int n) {
    return n * 2;
}

static void *in_thread(void *given) {
    int *n = given;
    *n = doubled(*n);
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, in_thread, &n);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        n += 1; // @in-child
        _exit(0);
    }
    waitpid(child, NULL, 0);
    if (argc > 1)
        abort(); // @aborts
    return 7;
}
