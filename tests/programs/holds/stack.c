/* A stack's count is raised above its capacity by a callee that skips the check. */
#include <stdio.h>
#include <stdlib.h>

struct stack {
    int count;
    int capacity;
    int *items;
};

static struct stack *make(int capacity) {
    struct stack *s = malloc(sizeof *s);
    s->count = 0;
    s->capacity = capacity;
    s->items = calloc(capacity + 4, sizeof *s->items);
    return s;
}

static void place(struct stack *s, int value) {
    s->items[s->count] = value;
    s->count++;
}

static int push(struct stack *s, int value) {
    if (s->count >= s->capacity)
        return 0;
    place(s, value);
    return 1;
}

static void push_all(struct stack *s, const int *values, int n) {
    for (int i = 0; i < n; i++)
        if (values[i] < 0)
            place(s, -values[i]);
        else
            push(s, values[i]);
}

static int is_valid(struct stack *s) {
    return s->count <= s->capacity;
}

int main(void) {
    struct stack *all[6];
    int values[] = {1, 2, 3, 4}, odd[] = {5, -6, 7};
    for (int i = 0; i < 6; i++) {
        all[i] = make(4);
        push_all(all[i], values, i < 4 ? i : 4);
    }
    for (int i = 0; i < 6; i++)
        printf("%d %d\n", all[i]->count, is_valid(all[i]));
    push_all(all[3], odd, 3);
    for (int i = 0; i < 6; i++)
        printf("%d %d\n", all[i]->count, is_valid(all[i]));
    return 0;
}
