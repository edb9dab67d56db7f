/* Every kind of number that a logpoint can be asked for, at lines that are passed twice, with other
 * values in each round. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum colour { RED, GREEN = 5, BLUE = -3 };
struct point {
  int x;
  short y;
};
struct item {
  unsigned low : 3;
  int high : 9;
  struct point at;
  double weight;
  struct item *next;
};
static const long whole[] = {0, 1, -1, 127, -128, 2147483647, -2147483648L, 1L << 62, -9007199254740993L};
static const double reals[] = {0.0, -0.0, 0.1, -2.5, 1e21, 1e-7, 123456789012345680.0, 5e-324, 1e300};
#define ROUNDS ((int)(sizeof whole / sizeof *whole))

long counter = -40;
static volatile int tick;

__attribute__((noinline)) static void show(int round, double real) {
  signed char tiny = (signed char)whole[round];
  unsigned char byte = (unsigned char)whole[round];
  char letter = (char)('a' + round * 20);
  short small = (short)whole[round];
  unsigned short usmall = (unsigned short)whole[round];
  int number = (int)whole[round];
  unsigned unumber = (unsigned)whole[round];
  long wide = whole[round];
  unsigned long uwide = (unsigned long)whole[round];
  float half = (float)real;
  double infinite = round % 3 == 0 ? INFINITY : round % 3 == 1 ? -INFINITY : NAN;
  _Bool yes = round & 1;
  enum colour colour = round % 3 == 0 ? RED : round % 3 == 1 ? GREEN : BLUE;
  int row[4] = {round, -round, round * 1000, 7};
  struct item last = {.low = (unsigned)round & 7, .high = -round * 20, .at = {round, (short)-round}, .weight = real};
  struct item first = {.at = {1, 2}, .weight = -real, .next = round % 3 ? &last : 0};
  struct item *item = &first, *nobody = 0;
  const char *word = round & 1 ? "odd" : 0;
  int *q = row + 1;
  counter++;
  tick++; /* @one */
  tick++; /* @one again */
  tick++; /* @two */
  tick++; /* @two again */
  tick++; /* @three */
  tick++; /* @three again */
  tick++; /* @four */
  tick++; /* @four again */
  (void)byte, (void)tiny, (void)letter, (void)small, (void)usmall, (void)number, (void)unumber;
  (void)wide, (void)uwide, (void)half, (void)infinite, (void)yes, (void)colour, (void)q;
  (void)item, (void)nobody, (void)word;
}

int main(int count, char **words) {
  const char *end = count > 1 ? words[1] : "";
  pid_t child = 0;
  if (!strcmp(end, "fork") && (child = fork()) > 0) waitpid(child, 0, 0);
  for (int round = 0; round < ROUNDS; round++) show(round, reals[round]);
  if (!strcmp(end, "crash")) *(volatile int *)0 = 1;
  if (!strcmp(end, "abort")) abort();
  if (!strcmp(end, "_exit")) _exit(3);
  return 0;
}
