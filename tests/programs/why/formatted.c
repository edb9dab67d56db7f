#include <stdio.h>

struct record {
    char name[8];
    int *count;
};

static int total = 5;

static void fill(struct record *record, const char *text) {
    sprintf(record->name, "%s-%d", text, 42); // @format
}

int main(void) {
    struct record record;
    record.count = &total;
    fill(&record, "longname");
    printf("%d\n", *record.count);
    return 0;
}
