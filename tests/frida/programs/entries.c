#include <stdbool.h>
#include <stdio.h>

struct big { long v[4]; };
volatile long sink;
long double extended = 1.5L;
__int128 wide = 3;
bool is_on;

/* The compiler makes a clone of it, without `unused` and `p`; the result's address comes first. */
__attribute__((noinline)) static struct big make(int n, int unused, int *p) {
  sink = *p;
  return (struct big){{n, n + 1, n + 2, n + 3}};
}
__attribute__((noinline)) static int ignored(int n) {
  sink = n;
  return n * 3;
}
int main(void) {
  for (int i = 0; i < 3; i++) {
    int x = i;
    struct big b = make(i, 100 + i, &x);
    ignored(i);
    printf("%ld %ld\n", b.v[0], b.v[3]);
  }
  printf("%Lg %lld %lld %d\n", extended, (long long)(wide >> 64), (long long)wide, is_on);
  return 0;
}
