/* Addresses that were changed, and values of other types where an address should be. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    long key;
    char name[24];
};

static int table[3];
static long room[16];
static struct node *in_thread;
static void *gone_in_thread;
static pthread_barrier_t barrier;

static int *ended(void)
{
    int here = 5;
    int *volatile address = &here;
    return address;
}

static void *allocate(void *nothing)
{
    in_thread = malloc(48);
    gone_in_thread = malloc(48);
    free(gone_in_thread);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return nothing;
}

int main(void)
{
    pthread_t thread;
    double decimal = 3.25;
    uint64_t hash = 0x7d3c0e5241b97461;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, allocate, NULL);
    pthread_barrier_wait(&barrier);
    struct node *node = calloc(1, sizeof *node), *other = calloc(1, sizeof *other), *number;
    struct node *above = (struct node *)((uintptr_t)node | UINT64_C(0x5a) << 56);
    struct node *below = (struct node *)((uintptr_t)node | 1);
    char *second = (char *)node + 1;
    struct node *cut = (struct node *)(uintptr_t)(uint32_t)(uintptr_t)node;
    char *behind = (char *)node + 40;
    int *beyond = &table[4];
    char *large = (char *)malloc(1 << 20) + 5000;
    const char *literal = "literal";
    int *returned = ended();
    memcpy(&number, &decimal, sizeof number);
    room[0] = other->key + (long)hash; /* @here */
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return above == below || second == behind || cut == node || beyond == returned || !number || large == literal;
}
