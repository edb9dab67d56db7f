/* A linked list that is popped once too often: a null dereference a few frames deep. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct list {
    struct node *head;
    int length;
};

static void list_push(struct list *list, int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = list->head;
    list->head = node;
    list->length += 1;
}

static int list_pop(struct list *list) {
    int value = 0;
    struct node *first = list->head;
    value = first->value; // @crash
    list->head = first->next;
    list->length -= 1;
    free(first);
    return value;
}

static int drain(struct list *list, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        total += list_pop(list); // @pop
    }
    return total;
}

static int run(int count) {
    struct list list = {0};
    for (int i = 1; i <= count; i++) {
        list_push(&list, i * 10);
    }
    printf("pushed %d\n", list.length); // @pushed
    fflush(stdout);
    return drain(&list, count + 1); // @drain
}

int main(void) {
    int total = 0;
    total = run(3); // @run
    printf("total %d\n", total);
    return 0;
}
