/* Prints its arguments, its directory and the variable GREETING. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        printf("argument %d: [%s]\n", i, argv[i]); // @argument
    }
    char directory[4096];
    if (getcwd(directory, sizeof directory) != NULL) {
        printf("directory: %s\n", directory);
    }
    const char *greeting = getenv("GREETING");
    printf("GREETING: %s\n", greeting ? greeting : "(unset)"); // @end
    return 0;
}
