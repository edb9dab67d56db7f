/* Allocates and frees in a random order, says what is in use, and waits for its input to end.
 * With a second argument it does so in a thread, which has a heap of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 400, TURNS = 6000 };

static void *allocate(void *nothing)
{
    static void *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    for (int turn = 0; turn < TURNS; turn++) {
        int at = rand() % BLOCKS;
        free(blocks[at]);
        blocks[at] = NULL;
        if (rand() % 3) {
            sizes[at] = (size_t)(rand() % (rand() % 8 ? 100 : 5000)) + 1;
            blocks[at] = malloc(sizes[at]);
        }
    }
    for (int at = 0; at < BLOCKS; at++) {
        if (blocks[at])
            printf("%p %zu\n", blocks[at], sizes[at]);
    }
    printf("ready\n");
    fflush(stdout);
    getchar();
    return nothing;
}

int main(int count, char **words)
{
    pthread_t thread;
    srand(count > 1 ? (unsigned)atoi(words[1]) : 1);
    setvbuf(stdin, NULL, _IONBF, 0);
    if (count > 2) {
        pthread_create(&thread, NULL, allocate, NULL);
        pthread_join(thread, NULL);
    } else {
        allocate(NULL);
    }
    return 0;
}
