/* Expands ${NAME} in texts, where a definition may use other definitions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFINITIONS_MAX 32
#define TEXT_MAX 512

struct definition {
    const char *name;
    const char *text;
};

struct table {
    struct definition entries[DEFINITIONS_MAX];
    size_t count;
};

struct buffer {
    char bytes[TEXT_MAX];
    size_t used;
};

static void define(struct table *table, const char *name, const char *text) {
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->entries[i].name, name) == 0) {
            table->entries[i].text = text;
            return;
        }
    }
    if (table->count < DEFINITIONS_MAX) {
        table->entries[table->count++] = (struct definition){name, text};
    }
}

static const char *lookup(const struct table *table, const char *name, size_t length) {
    for (size_t i = 0; i < table->count; i++) {
        const char *known = table->entries[i].name;
        if (strncmp(known, name, length) == 0 && known[length] == '\0') {
            return table->entries[i].text;
        }
    }
    return NULL;
}

static void put(struct buffer *out, const char *bytes, size_t count) {
    if (count > TEXT_MAX - 1 - out->used) {
        count = TEXT_MAX - 1 - out->used;
    }
    memcpy(out->bytes + out->used, bytes, count);
    out->used += count;
    out->bytes[out->used] = '\0';
}

static void expand(const struct table *table, const char *text, struct buffer *out, int depth) {
    struct buffer inner = {.used = 0};
    while (*text != '\0') {
        const char *open = strstr(text, "${");
        const char *close = open != NULL ? strchr(open, '}') : NULL;
        if (close == NULL) {
            put(out, text, strlen(text));
            return;
        }
        put(out, text, (size_t)(open - text));
        const char *found = lookup(table, open + 2, (size_t)(close - open - 2));
        if (found != NULL) {
            inner.used = 0;
            expand(table, found, &inner, depth + 1);
            put(out, inner.bytes, inner.used);
        }
        text = close + 1;
    }
}

static void show(const struct table *table, const char *text) {
    struct buffer out = {.used = 0};
    expand(table, text, &out, 0);
    printf("%s\n", out.bytes);
    fflush(stdout);
}

static void load_defaults(struct table *table) {
    define(table, "PREFIX", "/usr/local");
    define(table, "LIBDIR", "${PREFIX}/lib");
    define(table, "CFLAGS", "-O2 -I${PREFIX}/include");
    define(table, "LDFLAGS", "-L${LIBDIR}");
}

static void load_site(struct table *table) {
    define(table, "PREFIX", "${ROOT}/opt");
    define(table, "ROOT", "${STAGE}");
    define(table, "STAGE", "${PREFIX}/stage");
}

int main(void) {
    struct table table = {.count = 0};
    load_defaults(&table);
    show(&table, "cc ${CFLAGS} ${LDFLAGS} main.c");
    load_site(&table);
    show(&table, "cc ${CFLAGS} ${LDFLAGS} main.c");
    return 0;
}
