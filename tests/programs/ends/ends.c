#include <stdio.h>
#include <stdlib.h>
static int total;
static int late;
static void at_end(void) { late = 7; }
static void stop(int code) {
  int why = code * 2;
  exit(code);
}
int main(int argc, char **argv) {
  int n = 0;
  atexit(at_end);
  for (int i = 0; i < 5; i++) { total += i; n++; }
  if (argc > 1) stop(3);
  printf("total %d\n", total);
  return 0;
}
