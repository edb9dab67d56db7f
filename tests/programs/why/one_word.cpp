#include <map>
#include <string>

static void fill(long value) {
    volatile long words[16];
    for (int at = 0; at < 16; at++) words[at] = value;
}

static int adjoining(int a, int b) {
    int low = 3;
    if (a < b && b > 1) low = a;  // @adjoining
    int q = low ? 1 : 0;  // @chosen
    return 100 / q;
}

static int one_line(int a) { int t = a; t = t - a; return 100 / t; }  // @oneline

static int literal_key() {
    std::map<std::string, int> rates{{"a", 3}};
    int rate = rates["b"];  // @key
    return 100 / rate;
}

int main(int, char **argv) {
    for (long value = 1; value < 6; value++) fill(value);
    std::string bug = argv[1];
    if (bug == "adjoining") return adjoining(0, 2);  // @given
    if (bug == "oneline") return one_line(3);
    return literal_key();
}
