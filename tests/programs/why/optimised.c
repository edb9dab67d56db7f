/* Values that lie in registers, as optimised code has them. */
#pragma GCC optimize("O2")
#include <stdio.h>
#include <stdlib.h>

struct item {
    int price;
    struct item *next;
};

static struct item *head;

__attribute__((noinline)) static int lookup(const char *text) {
    return atoi(text) - 7; /* @return */
}

__attribute__((noinline)) static void make(int price) {
    struct item *made = malloc(sizeof *made);
    made->price = price; /* @store */
    made->next = head;
    head = made;
}

__attribute__((noinline)) static int scale(int amount, int by) {
    int result = amount * by; /* @scaled */
    if (result < 0)
        abort(); /* @crash */
    return result;
}

__attribute__((noinline)) static int total(struct item *from, int by) {
    int sum = 0;
    for (struct item *one = from; one; one = one->next)
        sum += scale(one->price, by); /* @call */
    return sum;
}

int main(int argc, char **argv) {
    (void)argv;
    for (int place = 0; place < 3; place++) {
        int price = lookup(place == 1 ? "5" : "20"); /* @got */
        make(price); /* @made */
    }
    int by = 3 + argc; /* @factor */
    printf("%d\n", total(head, by)); /* @total */
    return 0;
}
