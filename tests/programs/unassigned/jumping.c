/* A local that is assigned by a statement behind its declaration, with and without setjmp. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;

static int plain(int count)
{
    int result;
    char text[8];
    printf("%d\n", count); /* @before */
    result = count * 2;
    snprintf(text, sizeof text, "%d", result);
    return result + text[0]; /* @after */
}

static int jumping(int count)
{
    int result;
    if (setjmp(place) == 0)
        printf("%d\n", count);
    else
        return result + 1; /* @again */
    result = count * 2;
    longjmp(place, 1);
}

int main(void)
{
    return plain(4) + jumping(4);
}
