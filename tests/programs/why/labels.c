#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { long id; long weight; };
static struct node *nodes[60];
static char *labels[60];
static void label(char *to, const char *text) {
    strcpy(to, text); // @copies
}
int main(void) {
    for (int i = 0; i < 60; i++) {
        labels[i] = malloc(32);
        nodes[i] = malloc(sizeof(struct node));
        nodes[i]->id = i;
    }
    for (int i = 0; i < 60; i++)
        label(labels[i], i == 40 ? "a text that is much longer than thirty-two bytes" : "short");
    printf("%ld\n", nodes[40]->id); // @shown
    return 0;
}
