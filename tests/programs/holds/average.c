/* A divisor that is a parameter: its caller passes zero in the end. */
#include <stdio.h>

static int rows[5] = {4, 3, 5, 2, 6};

static int average(int total, int n)
{
    return total / n; /* @check */
}

static int count_even(int limit)
{
    int n = 0;
    for (int i = 0; i < limit; i++)
        if (rows[i] % 2 == 0)
            n++;
    return n;
}

int main(void)
{
    int sum = 0;
    for (int k = 5; k >= 0; k--) {
        int n = count_even(k);
        sum += average(100, n);
        printf("%d %d\n", k, sum);
    }
    return 0;
}
