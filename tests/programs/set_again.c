/* Writes a global just before the place that is asked about, at first with the value it has. */
#include <stdio.h>

int state = 0;

int add(int value)
{
    state = value;
    return value; /* @added */
}

int main(void)
{
    for (int i = 0; i < 5; i++)
        add(i);
    printf("%d\n", state);
    return 0;
}
