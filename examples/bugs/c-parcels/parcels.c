/* What does it cost to send parcels? Weights are rounded up to the next half kilogram.
 *
 *     parcels ZONE WEIGHT_G [WEIGHT_G ...]
 *
 * ends with status 1 when the sum is less than the cheapest price for each parcel.
 */
#include <stdio.h>
#include <stdlib.h>

#define PARCELS_MAX 32

struct rate {
    int zone;
    int first_cents;  /* up to half a kilogram */
    int more_cents;   /* for each further half */
};

struct parcel {
    int weight_g;
    int halves;
    int cents;
};

static const struct rate RATES[] = {
    {1, 390, 60},
    {2, 620, 110},
    {3, 990, 240},
};

static const struct rate *find_rate(int zone)
{
    for (size_t at = 0; at < sizeof RATES / sizeof RATES[0]; at++)
        if (RATES[at].zone == zone)
            return &RATES[at];
    fprintf(stderr, "no zone %d\n", zone);
    exit(2);
}

static int halves_of(int weight_g)
{
    return (weight_g + 499) / 500;
}

static int first_price(const struct rate *rate)
{
    return rate->first_cents;
}

/* A discount of 5 % for each further parcel, but never more than a third. */
static int discount_percent(int number)
{
    int percent = 5 * number;
    if (number > 6)
        percent = 100 / 3 * number;
    return percent;
}

static int price_of(const struct rate *rate, int halves, int number)
{
    int cents = first_price(rate) + (halves - 1) * rate->more_cents;
    int percent = discount_percent(number);
    return cents - cents * percent / 100;
}

static int price_all(const struct rate *rate, struct parcel *parcels, int count)
{
    int sum = 0;
    for (int number = 0; number < count; number++) {
        struct parcel *parcel = &parcels[number];
        parcel->halves = halves_of(parcel->weight_g);
        parcel->cents = price_of(rate, parcel->halves, number);
        sum += parcel->cents;
    }
    return sum;
}

static int read_parcels(char **words, int count, struct parcel *parcels)
{
    if (count > PARCELS_MAX)
        count = PARCELS_MAX;
    for (int at = 0; at < count; at++)
        parcels[at].weight_g = atoi(words[at]);
    return count;
}

static void print_bill(const struct parcel *parcels, int count, int sum)
{
    for (int at = 0; at < count; at++)
        printf("%6d g %3d x 1/2 kg %8.2f\n", parcels[at].weight_g, parcels[at].halves,
               parcels[at].cents / 100.0);
    printf("sum %26.2f\n", sum / 100.0);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: parcels ZONE WEIGHT_G ...\n");
        return 2;
    }
    struct parcel parcels[PARCELS_MAX] = {0};
    const struct rate *rate = find_rate(atoi(argv[1]));
    int count = read_parcels(argv + 2, argc - 2, parcels);
    int sum = price_all(rate, parcels, count);
    print_bill(parcels, count, sum);
    return sum < count * rate->first_cents * 2 / 3;
}
