#include <stdlib.h>
struct node { int value; struct node *next; };
static struct node *push(struct node *head, int value) {
    struct node *made = malloc(sizeof *made);
    made->value = value;
    made->next = head;
    return made;
}
static int sum(struct node *head) {
    int total = 0;
    for (struct node *n = head;; n = n->next)
        total += n->value;
    return total;
}
int main(void) {
    struct node *list = NULL; // @list
    for (int i = 0; i < 3; i++) list = push(list, i);
    return sum(list);
}
