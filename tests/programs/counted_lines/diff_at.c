
#include <stdio.h>
#include <stdlib.h>
struct node { int value; struct node *next; };
static int add(struct node *list, int value) {
    struct node *one = malloc(sizeof *one);
    one->value = value;
    one->next = list->next;
    list->next = one;
    return value + 1;
}
int main(int argc, char **argv) {
    struct node head = {0, NULL};
    int total = 0;
    for (int at = 1; at < argc; at++)
        total += add(&head, atoi(argv[at]));
    printf("%d\n", total);
    return 0;
}
