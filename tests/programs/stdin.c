/* Echoes its input in upper case, line by line, until the end of the input. */
#include <ctype.h>
#include <stdio.h>
#include <unistd.h>

static void shout(char *line) {
    for (char *c = line; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
}

int main(void) {
    char line[4096];
    int count = 0;
    alarm(120);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) != NULL) {
        count += 1;
        shout(line); // @read
        fputs(line, stdout);
        fflush(stdout);
    }
    printf("%d lines\n", count); // @eof
    return 0;
}
