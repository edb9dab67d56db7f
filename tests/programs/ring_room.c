/* Whether a ring has room, by the two counts of it; exits with the number of what is wrong. */
#include RING_SOURCE

static struct state s;

static int has_room_at(u32 claimed, u32 drained) {
  s.claimed = claimed;
  s.drained = drained;
  return has_room(&s);
}

int main(void) {
  if (!has_room_at(7, 7)) return 1;
  /* Of a thread that was held up while others went on, and all of it was drained. */
  if (!has_room_at(100, 101) || !has_room_at(~0u, 3)) return 2;
  if (!has_room_at(99 + RING - MARGIN, 100) || has_room_at(100 + RING - MARGIN, 100)) return 3;
  if (!has_room_at(5, ~0u) || has_room_at(RING - MARGIN - 1, ~0u)) return 4;
  return 0;
}
