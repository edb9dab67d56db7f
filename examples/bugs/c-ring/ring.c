/* A ring of samples between a reader and a writer, with a peak that is kept up to date. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define CAPACITY 8

struct ring {
    int samples[CAPACITY];
    unsigned head;
    unsigned count;
    int peak;
};

static void ring_check(const struct ring *ring) {
    unsigned used = 0;
    int peak = 0;
    for (unsigned i = 0; i < ring->count; i++) {
        int sample = ring->samples[(ring->head + i) % CAPACITY];
        used += 1;
        peak = sample > peak ? sample : peak;
    }
    assert(used == ring->count && used <= CAPACITY);
    assert(peak == ring->peak);
}

static int ring_put(struct ring *ring, int sample) {
    if (ring->count == CAPACITY) {
        return 0;
    }
    ring->samples[(ring->head + ring->count) % CAPACITY] = sample;
    ring->count += 1;
    if (sample > ring->peak) {
        ring->peak = sample;
    }
    ring_check(ring);
    return 1;
}

static int ring_highest(const struct ring *ring) {
    int highest = 0;
    for (unsigned i = 0; i < ring->count; i++) {
        int sample = ring->samples[i % CAPACITY];
        if (sample > highest) {
            highest = sample;
        }
    }
    return highest;
}

static int ring_take(struct ring *ring, int *sample) {
    if (ring->count == 0) {
        return 0;
    }
    *sample = ring->samples[ring->head];
    ring->head = (ring->head + 1) % CAPACITY;
    ring->count -= 1;
    if (*sample == ring->peak) {
        ring->peak = ring_highest(ring);
    }
    ring_check(ring);
    return 1;
}

static int run(struct ring *ring, const int *samples, size_t count) {
    int sum = 0;
    int taken = 0;
    for (size_t i = 0; i < count; i++) {
        if (!ring_put(ring, samples[i])) {
            ring_take(ring, &taken);
            sum += taken;
            ring_put(ring, samples[i]);
        }
        if (i % 3 == 2 && ring_take(ring, &taken)) {
            sum += taken;
        }
    }
    return sum;
}

int main(void) {
    const int quiet[] = {3, 1, 4, 1, 5, 2, 6};
    const int loud[] = {2, 9, 7, 7, 3, 8, 2, 5, 1, 1, 4};
    struct ring ring;
    memset(&ring, 0, sizeof ring);
    printf("quiet: %d\n", run(&ring, quiet, sizeof quiet / sizeof quiet[0]));
    fflush(stdout);
    printf("loud: %d\n", run(&ring, loud, sizeof loud / sizeof loud[0]));
    return 0;
}
