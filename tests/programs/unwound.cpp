// Calls that exceptions leave, caught in the same function, in a caller, and further in.
#include <cstdio>
#include <stdexcept>
#include <thread>

static int swallow(int count) {
    int caught = 0;
    for (int i = 0; i < count; i++) {
        try {
            throw i;
        } catch (int) {
            caught++;
        }
    }
    return caught;
}

struct Cleaner {
    ~Cleaner() { swallow(1); }
};

static int leave(int depth) {
    Cleaner cleaner;
    if (depth > 0) {
        return leave(depth - 1); // @deeper
    }
    swallow(3);                       // @swallow
    throw std::runtime_error("left"); // @throw
}

static int catching(int depth) {
    try {
        return leave(depth); // @leave
    } catch (const std::logic_error &) {
        return -2;
    } catch (const std::runtime_error &error) { // @caught
        std::printf("%s\n", error.what());
    }
    return -1;
}

int main() {
    int first = catching(1);
    std::thread other(swallow, 5);
    int second = catching(0);
    other.join();
    return first + second + 2; // @end
}
