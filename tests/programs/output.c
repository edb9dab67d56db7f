/*
 * output [lines|unfinished|binary] [N] [stdout|stderr|both]: writes N (3) lines,
 * the last one without a newline, or bytes that are no text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_lines(FILE *stream, const char *name, int count, int is_finished) {
    for (int i = 1; i <= count; i++) {
        fprintf(stream, "%s line %d%s", name, i, i < count || is_finished ? "\n" : ""); // @line
    }
}

static void write_bytes(FILE *stream) {
    /* NUL, a lone continuation byte, a truncated sequence, an escape sequence, a bare CR. */
    static const char bytes[] = "nul \0 high \xff\xfe cut \xe2\x82 esc \x1b[31mred\x1b[0m\rback\n";
    fwrite(bytes, 1, sizeof bytes - 1, stream); // @bytes
}

static void write_to(FILE *stream, const char *name, const char *what, int count) {
    if (strcmp(what, "binary") == 0) {
        write_bytes(stream);
    } else {
        write_lines(stream, name, count, strcmp(what, "unfinished") != 0);
    }
    fflush(stream);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "lines";
    int count = argc > 2 ? atoi(argv[2]) : 3;
    const char *where = argc > 3 ? argv[3] : "stdout";
    if (strcmp(where, "stderr") != 0) {
        write_to(stdout, "stdout", what, count);
    }
    if (strcmp(where, "stdout") != 0) {
        write_to(stderr, "stderr", what, count);
    }
    return 0; // @end
}
