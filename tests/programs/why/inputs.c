/* Values that come from files, arguments and the environment, or from nowhere. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[64];
static int state;
static int number;

static int read_header(const char *path)
{
    int file = open(path, O_RDONLY);

    lseek(file, 8, SEEK_SET);
    if (read(file, buffer, 16) < 0 || pread(file, &number, 2, 3) < 0) /* @read */
        return 1;
    close(file);
    printf("%d\n", buffer[4]); /* @header */
    return 0;
}

static int read_line(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[32];

    if (file == NULL || fgets(line, sizeof line, file) == NULL) /* @fgets */
        return 1;
    number = atoi(line); /* @atoi */
    fclose(file);
    printf("%d\n", number); /* @number */
    return 0;
}

static void leave_on_stack(int value)
{
    volatile int kept[8];

    for (int i = 0; i < 8; i++)
        kept[i] = value; /* @left */
}

static int read_unwritten(int argc)
{
    int result;

    if (argc > 40)
        result = 1;
    printf("%d\n", result); /* @uninitialised */
    return 0;
}

static void *change_state(void *given)
{
    state = *(int *) given; /* @thread */
    return NULL;
}

static int run_thread(void)
{
    pthread_t thread;
    int wanted = 4711;

    state = 1;
    pthread_create(&thread, NULL, change_state, &wanted);
    pthread_join(thread, NULL);
    printf("%d\n", state); /* @state */
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    if (!strcmp(how, "read"))
        return read_header(argv[2]);
    if (!strcmp(how, "line"))
        return read_line(argv[2]);
    if (!strcmp(how, "thread"))
        return run_thread();
    if (!strcmp(how, "argument")) {
        number = atoi(argv[2]);
        printf("%d\n", number); /* @argument */
        return 0;
    }
    leave_on_stack(31337);
    return read_unwritten(argc);
}
