/* Pointers of all kinds, and a crash through one that is text. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    long key;
    struct node *next;
    char name[16];
};

static struct node table[4];
static int *of_a_thread;
static pthread_barrier_t barrier;

static int helper(int number)
{
    return number + 1;
}

static int *dangling(void)
{
    int array[64];
    int *volatile address = array;
    array[0] = 7;
    return address;
}

static long use(struct node *node, int *outer, void *gone, void *link)
{
    int (*code)(int) = helper;
    struct node *object = &table[1];
    char *middle = (char *)node + 24;
    int *returned = dangling();
    struct node *member = (struct node *)16;
    void *failed = (void *)-12;
    void *poison = (void *)0xdeadbeefdeadbeefu;
    void *filled = (void *)0xbebebebebebebec6u;
    uintptr_t word = 0x302f617461641648;
    void *unmapped = (void *)0x123456789000;
    printf("%p %p %p %p %p %p %p %p\n", (void *)returned, (void *)member, failed, poison, filled,
           unmapped, (void *)(word + (uintptr_t)link), gone);
    return node->next->key + code(*outer) + *middle + object->key; /* @crash */
}

static void *wait_in_thread(void *nothing)
{
    int array[4] = {1, 2, 3, 4};
    of_a_thread = &array[1];
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return nothing;
}

int main(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, wait_in_thread, NULL);
    pthread_barrier_wait(&barrier);
    struct node *node = malloc(sizeof *node);
    void *first = malloc(40), *gone = malloc(40);
    int outer[4] = {1, 2, 3, 4};
    memcpy(&node->next, "H\x16" "data/0", 8);
    free(first);
    free(gone);
    void *link;
    memcpy(&link, gone, sizeof link); /* a use after free */
    return (int)use(node, &outer[2], gone, link);
}
