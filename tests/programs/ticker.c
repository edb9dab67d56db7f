/* Prints 600 long lines in 6 seconds, and keeps the last one's number in a file. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int note(const char *path, int number) {
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return -1;
    }
    fprintf(file, "%d\n", number);
    return fclose(file);
}

int main(int argc, char **argv) {
    char padding[501];
    memset(padding, '.', sizeof padding - 1);
    padding[sizeof padding - 1] = '\0';
    for (int number = 1; number <= 600; number++) {
        printf("tick %d %s\n", number, padding); // @tick
        fflush(stdout);
        if (argc > 1 && note(argv[1], number) != 0) {
            return 1;
        }
        usleep(10 * 1000);
    }
    return 0;
}
