/* Allocates and frees in a random order, says what is in use, and waits for its input to end. */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 400, TURNS = 6000 };

int main(int count, char **words)
{
    static void *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    srand(count > 1 ? (unsigned)atoi(words[1]) : 1);
    setvbuf(stdin, NULL, _IONBF, 0);
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
    return getchar() == EOF ? 0 : 1;
}
