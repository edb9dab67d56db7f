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

int main(void)
{
    struct list *got = read_list("1279"); // @call
    assert(got != NULL);
    return 0;
}
