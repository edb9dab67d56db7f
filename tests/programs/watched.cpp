// Memory of every kind that is written, rewritten as it was, and only read.
#include <cstdio>

struct Pair {
    int first;
    int second;
};
struct Large {
    long parts[3];
    int last;
};
struct Bits {
    unsigned low : 3;
    unsigned high : 5;
};

int total = 0;
int quiet = 7;
Large large{};
Bits bits{};

static int sum(const Pair *pair) {
    return pair->first + pair->second; // @read
}

static int work(int turn) {
    int local = turn;
    int &same = total;
    local += 10; // @work
    same = turn % 2;
    return local;
}

int main() {
    Pair pair{1, 2};
    int result = 0;
    for (int turn = 0; turn < 6; turn++) { // @loop
        result += work(turn);
        quiet = 7;
        large.last = turn;
        bits.high = static_cast<unsigned>(turn);
    }
    result += sum(&pair);
    pair.second = 5; // @write
    std::printf("%d %d %d\n", result, total, pair.second);
    return 0;
}
