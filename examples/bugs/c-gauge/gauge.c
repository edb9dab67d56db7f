/* A charge gauge: it smooths what the sensor reads, and says when the battery is full.

   gauge [READINGS]: charges for so many readings (80). */
#include <stdio.h>
#include <stdlib.h>

enum { FULL = 100 };

static int weight = 8;

/* Moves the shown charge by a part of the difference, so that a single bad reading does no harm. */
static int smoothed(int shown, int reading)
{
    int change = (reading - shown) / weight;
    return shown + change;
}

static int sensor(int second)
{
    int charge = 20 + 2 * second;
    return charge < FULL ? charge : FULL;
}

int main(int count, char **words)
{
    int readings = count > 1 ? atoi(words[1]) : 80;
    int shown = sensor(0);
    for (int second = 1; second <= readings; second++) {
        shown = smoothed(shown, sensor(second));
        if (second % 20 == 0)
            printf("%3d s  %3d %%\n", second, shown);
    }
    if (shown < FULL) {
        printf("still charging\n");
        return 1;
    }
    printf("full\n");
    return 0;
}
