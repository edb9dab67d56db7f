// Values that come by function pointers, and a bit-field beside others.
#include <stdio.h>
#include <stdlib.h>

struct flags { unsigned dirty:1; unsigned level:3; unsigned mode:4; };
struct rates { int unit; int bulk; struct flags flags; };
typedef int (*price_fn)(int count, struct rates *rates);

static int unit_price(int count, struct rates *rates) { return count * rates->unit; }

static int bulk_price(int count, struct rates *rates)
{
    if (count < 0)
        return 0;
    return rates->bulk;
}

static price_fn table[] = { unit_price, bulk_price };

static struct rates *load(void)
{
    struct rates *rates = calloc(1, sizeof *rates);
    rates->unit = 7;
    rates->bulk = -3; // @bulk
    return rates;
}

static int dispatch(int kind, int count, struct rates *rates)
{
    return table[kind](count, rates); // @dispatch
}

int main(void)
{
    struct rates *rates = load();
    rates->flags.level = 5; // @level
    rates->flags.mode = 9;
    rates->flags.dirty = 1;
    int price = dispatch(1, 10, rates);
    unsigned level = rates->flags.level;
    printf("%d %u\n", price, level); // @end
    return 0;
}
