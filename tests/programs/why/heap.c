/* Wrong values in the heap: an overflow, a use after free, memory without a write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    long key;
    struct node *next;
};

static char *make_name(void)
{
    return malloc(24); /* @name */
}

static struct node *make_node(long key)
{
    struct node *made = malloc(sizeof *made); /* @node */
    made->key = key;
    made->next = NULL; /* @null */
    return made;
}

static void copy_name(char *to, const char *from)
{
    for (int i = 0; from[i]; i++)
        to[i] = from[i]; /* @byte */
}

static void drop(struct node *old)
{
    free(old); /* @free */
}

static int overflow(const char *text)
{
    char *name = make_name();
    struct node *first = make_node(3);
    strcpy(name, text); /* @strcpy */
    printf("%ld\n", first->next->key); /* @crash */
    return 0;
}

static int by_bytes(const char *text)
{
    char *name = make_name();
    struct node *first = make_node(3);
    copy_name(name, text);
    printf("%ld\n", first->key); /* @bytes */
    return 0;
}

static int shifted(const char *text)
{
    struct { char text[24]; } *tag = malloc(sizeof *tag);
    struct node *first = make_node(3);
    long seen;

    memcpy(tag->text + 8, text, strlen(text));
    seen = first->key;
    printf("%ld\n", seen); /* @shifted */
    return 0;
}

static int after_free(void)
{
    struct node *first = make_node(5);
    drop(first);
    long *other = malloc(sizeof(struct node)); /* @other */
    other[0] = 77; /* @stored */
    other[1] = 0;
    printf("%ld\n", first->key); /* @after-free */
    free(other);
    return 0;
}

static int after_free_only(void)
{
    struct node *first = make_node(5);
    drop(first);
    printf("%ld\n", first->key); /* @freed */
    return 0;
}

static int unwritten(void)
{
    struct node *old = make_node(41);
    struct node *fresh;

    free(old);
    fresh = malloc(sizeof *fresh); /* @fresh */
    printf("%p\n", (void *) fresh->next); /* @unwritten */
    free(fresh);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const char *text = "0123456789abcdef0123456789ABCDEFghijklmnopqrstu";

    if (!strcmp(how, "overflow"))
        return overflow(text);
    if (!strcmp(how, "bytes"))
        return by_bytes(text);
    if (!strcmp(how, "shifted"))
        return shifted(text);
    if (!strcmp(how, "free"))
        return after_free();
    if (!strcmp(how, "freed"))
        return after_free_only();
    return unwritten();
}
