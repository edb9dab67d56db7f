/* Counts the visits of a site's pages, in as many threads as there are logs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 8

struct page {
    char name[24];
    long hits;
    long bytes;
};

struct site {
    pthread_mutex_t lock;
    struct page pages[PAGES];
    int known;
    long total; /* of all pages, for the report's first line */
};

struct log {
    struct site *site;
    const char *text;
    int broken;
};

static struct page *page_of(struct site *site, const char *name, size_t length) {
    for (int at = 0; at < site->known; at++)
        if (strlen(site->pages[at].name) == length && !strncmp(site->pages[at].name, name, length))
            return &site->pages[at];
    if (site->known == PAGES || length >= sizeof site->pages[0].name) return NULL;
    struct page *made = &site->pages[site->known++];
    memcpy(made->name, name, length);
    return made;
}

static int count(struct site *site, const char *name, size_t length, long bytes) {
    pthread_mutex_lock(&site->lock);
    struct page *page = page_of(site, name, length);
    if (page != NULL) {
        page->hits++;
        page->bytes += bytes;
    }
    pthread_mutex_unlock(&site->lock);
    if (page == NULL) return 0;
    site->total += bytes;
    return 1;
}

static void *read_log(void *given) {
    struct log *log = given;
    const char *at = log->text;
    while (*at != '\0') {
        const char *space = strchr(at, ' ');
        const char *end = strchr(at, '\n');
        if (space == NULL || end == NULL || space > end) {
            log->broken++;
            break;
        }
        if (!count(log->site, at, (size_t)(space - at), strtol(space + 1, NULL, 10))) log->broken++;
        at = end + 1;
    }
    return NULL;
}

int main(void) {
    static struct site site = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct log logs[] = {
        {&site, "/ 512\n/news 2048\n/ 512\n/about 300\n", 0},
        {&site, "/news 2048\n/shop 4096\n/ 512\n", 0},
    };
    pthread_t threads[2];
    for (int at = 0; at < 2; at++) pthread_create(&threads[at], NULL, read_log, &logs[at]);
    for (int at = 0; at < 2; at++) pthread_join(threads[at], NULL);
    long sum = 0;
    for (int at = 0; at < site.known; at++) {
        printf("%-8s %ld hits, %ld bytes\n", site.pages[at].name, site.pages[at].hits, site.pages[at].bytes);
        sum += site.pages[at].bytes;
    }
    printf("%ld bytes in all\n", site.total);
    return sum == site.total ? 0 : 1;
}
