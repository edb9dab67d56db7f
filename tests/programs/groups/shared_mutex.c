/* Two processes share a mutex; a thread of the first holds it, and does not come back. With a file
   its lock is held, too. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>
static pthread_mutex_t *shared;
static void *keep(void *unused) {
    pthread_mutex_lock(shared);
    for (;;) pause(); /* @keeps */
    return unused;
}
int main(int count, char **words) {
    pthread_mutexattr_t kind;
    pthread_t thread;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(shared, &kind);
    pthread_create(&thread, NULL, keep, NULL);
    while (pthread_mutex_trylock(shared) == 0)
        pthread_mutex_unlock(shared);
    if (fork() == 0) {
        pthread_mutex_lock(shared); /* @waits */
        return 0;
    }
    /* After the fork: a child would hold it, too. */
    if (count > 1)
        flock(open(words[1], O_CREAT | O_RDWR, 0600), LOCK_EX);
    puts("held");
    fflush(stdout);
    pthread_join(thread, NULL); /* @joins */
}
