// A small number that is copied through a list, a ring and calls, by statements that count.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct item { int id; int price; };
struct list { struct item *items; int n, cap; };
struct ring { struct item *slots[4]; int head, tail; };
static void list_add(struct list *l, struct item it) {
  if (l->n == l->cap) {
    l->cap = l->cap ? l->cap * 2 : 1;
    l->items = realloc(l->items, l->cap * sizeof *l->items);
  }
  l->items[l->n++] = it; // @stored
}
static struct item make(int id) {
  struct item it;
  it.id = id;
  it.price = id * 100 + 99;
  return it; // @made
}
static void ring_put(struct ring *r, struct item *p) { r->slots[r->tail++ % 4] = p; }
static struct item *ring_get(struct ring *r) { return r->slots[r->head++ % 4]; }
static struct item *dup_item(const struct item *p) {
  struct item *q = malloc(sizeof *q);
  memcpy(q, p, sizeof *q); // @copied
  return q;
}
static int cheapest(struct ring *r) {
  int best = 1 << 30;
  for (int i = 0; i < 3; i++) {
    struct item *p = ring_get(r);
    if (p->price < best) best = p->price; // @best
  }
  return best; // @returned
}
int main(void) {
  struct list l = {0};
  struct ring r = {{0}, 0, 0};
  for (int i = 3; i > 0; i--) list_add(&l, make(i)); // @added
  for (int i = 0; i < l.n; i++) ring_put(&r, dup_item(&l.items[i]));
  int answer = cheapest(&r); // @answer
  printf("%d\n", answer); // @show
  return 0;
}
