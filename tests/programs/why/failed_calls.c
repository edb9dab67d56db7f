// A failure that is handed on: by a result, a `goto`, and NULL.
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

struct list {
    int count;
    int items[8];
};

static bool read_item(struct list *list, const char **at)
{
    if (**at > '8') // @digit
    {
        return false; // @refused
    }
    list->items[list->count++] = **at - '0';
    ++*at;
    return true;
}

static struct list *read_list(const char *text)
{
    struct list *list = calloc(1, sizeof *list);
    if (list == NULL)
    {
        goto fail;
    }
    while (*text)
    {
        if (!read_item(list, &text)) // @check
        {
            goto fail; // @jump
        }
    }
    return list;

fail:
    free(list);
    return NULL; // @null
}

static int first_of(const char *text)
{
    struct list *list = read_list(text); // @read
    if (list == NULL) // @missing
        return -1; // @none
    return list->items[0];
}

int main(int argc, char **argv)
{
    (void)argv;
    struct list *got = read_list("1279"); // @call
    if (argc > 1)
        assert(first_of("1279") == 1);
    assert(got != NULL);
    return 0;
}
