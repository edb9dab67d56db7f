/* Mixes tracks of 16-bit samples into one block, with a gain for each track. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64
#define TRACKS 3
#define BLOCKS 12

struct track {
    const char *name;
    int gain; /* in 1/256 */
    unsigned phase;
    unsigned step;
    int loudness;
};

struct mixer {
    struct track tracks[TRACKS];
    int16_t block[BLOCK];
    int peak;
    long blocks;
};

/* A wave of triangles: cheap, and it sounds like one. */
static int track_sample(struct track *track) {
    track->phase = (track->phase + track->step) & 0xffff;
    int height = (int)(track->phase & 0x7fff);
    int value = track->phase < 0x8000 ? height : 0x7fff - height;
    return (2 * value - 0x7fff) * track->loudness / 100;
}

static int scaled(int sample, int gain) {
    return sample * gain / 256;
}

static void mixer_clear(struct mixer *mixer) {
    memset(mixer->block, 0, sizeof mixer->block);
    mixer->peak = 0;
}

static void mixer_add(struct mixer *mixer, struct track *track) {
    for (int i = 0; i < BLOCK; i++) {
        int sample = scaled(track_sample(track), track->gain);
        int16_t mixed = mixer->block[i] + sample;
        mixer->block[i] = mixed;
    }
}

static void mixer_measure(struct mixer *mixer) {
    for (int i = 0; i < BLOCK; i++) {
        int height = abs(mixer->block[i]);
        if (height > mixer->peak) {
            mixer->peak = height;
        }
    }
}

/* A block that sounds clean has no jumps between two samples. */
static int mixer_jumps(const struct mixer *mixer) {
    int jumps = 0;
    for (int i = 1; i < BLOCK; i++) {
        if (abs(mixer->block[i] - mixer->block[i - 1]) > 40000) {
            jumps++;
        }
    }
    return jumps;
}

static void fade_in(struct track *track, long block) {
    int wanted = 96 + (int)block * 16;
    track->gain = wanted < 256 ? wanted : 256;
}

int main(void) {
    struct mixer mixer = {
        .tracks = {
            {"bass", 128, 0, 310, 60},
            {"lead", 96, 9000, 620, 70},
            {"pad", 64, 20000, 150, 45},
        },
    };
    int jumps = 0;
    for (long block = 0; block < BLOCKS; block++) {
        mixer_clear(&mixer);
        for (int at = 0; at < TRACKS; at++) {
            fade_in(&mixer.tracks[at], block);
            mixer_add(&mixer, &mixer.tracks[at]);
        }
        mixer_measure(&mixer);
        int found = mixer_jumps(&mixer);
        if (found > 0) {
            printf("block %ld: %d jumps, peak %d\n", block, found, mixer.peak);
        }
        jumps += found;
        mixer.blocks++;
    }
    printf("%ld blocks, %d jumps\n", mixer.blocks, jumps);
    return jumps > 0;
}
