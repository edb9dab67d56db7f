/* A list whose third link is no pointer. */
#include <stdlib.h>

struct node { long value; struct node *next; };

static struct node *make_list(int count) {
    struct node *head = NULL;
    for (int i = 0; i < count; i++) {
        struct node *node = malloc(sizeof *node);
        node->value = i;
        node->next = head;
        head = node;
    }
    return head;
}

static void spoil(struct node *node, long tag) {
    node->next = (struct node *)tag; /* @spoiled */
}

static long sum_up(struct node *head) {
    struct node *n;
    long sum = 0;
    for (n = head; n; n = n->next) /* @loop */
        sum += n->value; /* @sum */
    return sum;
}

int main(int argc, char **argv) {
    struct node *head = make_list(5);
    spoil(argc > 1 ? head : head->next->next, 0x1234567);
    return (int)sum_up(head);
}
