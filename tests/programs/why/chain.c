/* Values that reach a line by writes, copies, parameters and returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    long price;
    long count;
};

static int source = 1234567; /* @source */
static int limit;
static struct item shop[2];
static long total;

static int pick(int wanted)
{
    int chosen = wanted; /* @chosen */
    return chosen; /* @return */
}

static void store(int value)
{
    limit = value; /* @store */
}

static void fill(struct item *to, long price)
{
    to->price = price; /* @price */
    to->count = 3;
}

static long multiply(const struct item *one)
{
    return one->price * one->count;
}

static void check(void)
{
    printf("%d %ld\n", limit, total); /* @check */
}

static void look(long given)
{
    printf("%ld\n", given); /* @look */
}

int main(void)
{
    struct item *box = malloc(sizeof *box);
    struct item copy;
    int got = pick(source); /* @got */
    store(got); /* @call */
    fill(box, 987654321L); /* @literal */
    memcpy(&copy, box, sizeof copy); /* @memcpy */
    shop[1] = copy; /* @struct */
    total = multiply(&shop[1]); /* @total */
    look(shop[1].price); /* @argument */
    for (int i = 0; i < 5; i++)
        store(i * 10); /* @loop */
    check();
    free(box);
    return 0;
}
