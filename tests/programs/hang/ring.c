// Counts the nodes of a list that a wrong insertion has made a ring.
#include <stdio.h>
#include <stdlib.h>

struct node {
    int name;
    struct node *next;
};

static struct node *make_node(int name) {
    struct node *made = malloc(sizeof *made);
    made->name = name;
    made->next = NULL;
    return made;
}

static void insert_before(struct node *node, struct node *added) {
    added->next = node;
    node->next = added;
}

static int count(struct node *node) {
    volatile int total = 0;
    while (node != NULL) {
        total += 1;
        node = node->next;
    }
    return total;
}

int main(void) {
    struct node *first = make_node('a');
    struct node *second = make_node('b');
    first->next = second;
    insert_before(second, make_node('e'));
    printf("%d\n", count(first));
    return 0;
}
