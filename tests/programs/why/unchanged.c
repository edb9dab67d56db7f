#include <stdio.h>
#include <stdlib.h>

static int rest(int parts)
{
  if (parts > 2)
    return 0; /* @rest */
  return parts;
}

int main(int argc, char **argv)
{
  int left = 0;
  int parts = atoi(argv[argc - 1]);
  left = rest(parts); /* @call */
  printf("%d\n", left ? 100 / left : -1); /* @end */
  return 0;
}
