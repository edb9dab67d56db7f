// An exception that leaves one function, and is caught in its caller; another one that nobody catches.
#include <cstdio>
#include <stdexcept>

static int total(int count) {
    if (count > 2) {
        throw std::length_error("too big"); // @too_big
    }
    return count;
}

static int safe(int count) {
    try {
        return total(count);
    } catch (const std::exception &) {
        return -1;
    }
}

int main() {
    std::printf("%d %d\n", safe(1), safe(3));
    return safe(2);
}
