/* Orders of a shop: their lines are added up as they come, and checked before they are sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 6

struct line {
    char article[12];
    int count;
    long cents;
};

struct order {
    char code[8];
    long total;
    int lines;
    struct line line[LINES];
};

static struct order *order_new(void)
{
    struct order *order = calloc(1, sizeof *order);
    if (order == NULL)
        exit(1);
    return order;
}

static void order_add(struct order *order, const char *article, int count, long cents)
{
    struct line *line;
    if (order->lines == LINES)
        return;
    line = &order->line[order->lines++];
    snprintf(line->article, sizeof line->article, "%s", article);
    line->count = count;
    line->cents = cents;
    order->total += count * cents;
}

static void order_discount(struct order *order, int percent)
{
    for (int i = 0; i < order->lines; i++) {
        struct line *line = &order->line[i];
        long less = line->cents * percent / 100;
        line->cents -= less;
        order->total -= less * line->count;
    }
}

/* A code is the customer's letter, the year and a number: A-24-17. */
static void order_label(struct order *order, char customer, int year, int number)
{
    char text[32];
    const char *from = text;
    char *to = order->code;
    snprintf(text, sizeof text, "%c-%02d-%d", customer, year % 100, number);
    while (*from != '\0')
        *to++ = *from++;
    *to = '\0';
}

static long sum(const struct order *order)
{
    long total = 0;
    for (int i = 0; i < order->lines; i++)
        total += order->line[i].count * order->line[i].cents;
    return total;
}

static int order_check(const struct order *order)
{
    long expected = sum(order);
    if (expected == order->total)
        return 1;
    printf("%s: %ld cents, but its lines say %ld\n", order->code, order->total, expected);
    return 0;
}

static int send(int number)
{
    struct order *order = order_new();
    int is_right;
    order_add(order, "bolt", 20, 12);
    order_add(order, "washer", 40, 3);
    order_add(order, "plate", 2, 1450);
    order_discount(order, 10);
    order_label(order, 'A', 2024, number);
    is_right = order_check(order);
    free(order);
    return is_right;
}

int main(void)
{
    int wrong = 0;
    for (int number = 9998; number < 10001; number++)
        wrong += !send(number);
    return wrong != 0;
}
