// Plays three tracks, block after block, each from a buffer that is filled again where it ends.
#include <chrono>
#include <cstdio>
#include <thread>

namespace player {

struct Track {
    const char *name;
    int sampleRate;
    int bufferSize;
    int position;
    long refills;
};

const int OUTPUT_RATE = 48000;
const int BLOCK = 64;
long blocks = 0;

void refill(Track &track) {
    track.position = 0;
    track.refills++;
}

void advance(Track &track, int frames) {
    int sampleRate = track.sampleRate;
    int bufferSize = track.bufferSize;
    int step = frames * sampleRate / OUTPUT_RATE;
    track.position += step;
    if (track.position < 0 || track.position >= bufferSize)
        refill(track);
}

Track load(const char *name, const unsigned char *header) {
    short rate = header[0] | header[1] << 8;
    return Track{name, rate, 4096, 0, 0};
}

void play(Track *tracks, int count) {
    for (;;) {
        for (int i = 0; i < count; i++)
            advance(tracks[i], BLOCK);
        blocks++;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace player

int main() {
    const unsigned char voice[] = {0x40, 0x1f}, bell[] = {0x22, 0x56}, song[] = {0x44, 0xac};
    player::Track tracks[] = {
        player::load("voice", voice),
        player::load("bell", bell),
        player::load("song", song),
    };
    std::puts("playing");
    std::fflush(stdout);
    player::play(tracks, 3);
}
