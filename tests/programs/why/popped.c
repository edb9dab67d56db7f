#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *pop(struct node **head) {
    struct node *first = *head;
    if (!first)
        return NULL; /* @nothing */
    *head = first->next;
    return first;
}

static int use(struct node *taken) {
    return taken->value; /* @crash */
}

int main(int argc, char **argv) {
    struct node one = {4, NULL};
    struct node *head = &one;
    if (argc > 1)
        return use(NULL); /* @literal */
    struct node *taken = pop(&head);
    taken = pop(&head); /* @again */
    printf("%d\n", use(taken));
    return 0;
}
