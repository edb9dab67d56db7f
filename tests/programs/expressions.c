/* All that an expression can name in C, at one line. */
#include <stdio.h>
#include <string.h>

enum colour { RED, GREEN = 5, BLUE };

struct point {
  int x, y;
};

struct node {
  int value;
  const char *name;
  struct point at;
  struct node *next;
  unsigned low : 3, middle : 7;
  int high : 9;
  union {
    int whole;
    float real;
  };
  enum colour colour;
  short grid[2][3];
};

typedef struct node node_t;

int counter = 41;
static unsigned char bytes[] = {1, 2, 250, 255};

__attribute__((noinline)) static long work(int n, double ratio, const char *word, node_t *p) {
  long total = -7;
  unsigned u = 4000000000u;
  short little = -3;
  float half = 0.5f;
  _Bool yes = 1;
  char letter = 'q';
  char text[16] = "in a row";
  struct point here = {n, n * 2};
  int numbers[5] = {10, 20, 30, 40, 50};
  int *q = numbers + 2;
  void *raw = p;
  node_t *null = 0;
  static long calls = 9;
  for (int i = 0; i < n; i++) {
    total += i * calls;
  }
  counter++; /* @here */
  printf("%ld %u %d %g %d %c %s %d %d %p %p %g %s %d\n", total, u, little, half, yes, letter, text,
         here.x, *q, raw, (void *)null, ratio, word, bytes[1]);
  return total;
}

int main(void) {
  node_t second = {.value = 2, .name = "eve", .next = 0, .colour = BLUE};
  node_t first = {.value = 1, .name = "adam", .at = {3, -4}, .next = &second, .low = 5,
                  .middle = 100, .high = -200, .colour = GREEN, .grid = {{1, 2, 3}, {4, 5, -6}}};
  first.real = 1.5f;
  return work(6, 2.25, "word", &first) == 0;
}
