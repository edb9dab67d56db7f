#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};
static struct node *top;

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value; // @push
    node->next = top;
    top = node;
}

static int pop(void) {
    struct node *node = top;
    int value = node->value; // @value
    top = node->next;
    free(node);
    return value; // @return
}

static int unset(int count) {
    int chosen;
    if (count > 5) chosen = 3;
    return chosen + 0; // @unset
}

int main(int argc, char **argv) {
    (void)argv;
    push(3);
    push(8); // @call
    int last = pop(); // @pop
    return last + unset(argc); // @end
}
