/* Three threads that pass one line thousands of times a second, for ever. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile long count[3];
static void hot(int at) {
    count[at]++; // @hot
}
static void *turn(void *given) {
    for (;;) {
        hot((int)(long)given);
        usleep(200);
    }
    return given;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, turn, (void *)1);
    pthread_create(&thread, NULL, turn, (void *)2);
    puts("here");
    fflush(stdout);
    turn(NULL);
    return 0;
}
