/* A page of a list takes an item without counting the reference; freeing the page frees the item. */
#include <stdlib.h>

struct shape { int sides; };
struct object { int references, kind; long marks[2]; struct shape *shape; long more; };
struct page { int count; struct object *items[4]; };

static struct shape square = {4};

static void release_block(void *block) { free(block); } /* @released */

static struct object *make_object(void) {
    struct object *object = malloc(sizeof *object);
    object->references = 1;
    object->shape = &square;
    return object;
}

static void drop(struct object *object) {
    object->references--; /* @dropped */
    if (object->references == 0) {
        object->shape = NULL;
        release_block(object); /* @freed */
    }
}

static struct page *take_page(struct object **list, int count) {
    struct page *page = malloc(sizeof *page);
    page->count = count;
    for (int i = 0; i < count; i++)
        page->items[i] = list[i]; /* @stored */
    return page;
}

static void drop_page(struct page *page) {
    for (int i = 0; i < page->count; i++)
        drop(page->items[i]); /* @page */
    release_block(page);
}

static int sides_of(struct object *object) {
    struct shape *shape = object->shape;
    return shape->sides; /* @crash */
}

int main(int argc, char **argv) {
    struct object *list[4], *others[16];
    int many = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < 4; i++)
        list[i] = make_object();
    for (int i = 0; i < many; i++)
        others[i] = make_object();
    /* Seven blocks of a size fill glibc's tcache; the next ones are in a fastbin. */
    for (int i = 0; i < many; i++)
        drop(others[i]);
    drop_page(take_page(list, 2)); /* @taken */
    return sides_of(list[1]); /* @used */
}
