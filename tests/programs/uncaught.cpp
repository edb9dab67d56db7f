// Throws an exception that nobody catches.
#include <cstdio>
#include <stdexcept>
#include <string>

class OrderError : public std::runtime_error {
  public:
    OrderError(int order, const std::string &why) : std::runtime_error(why), order(order) {}
    int order;
};

static void check(int order) {
    if (order > 2) {
        throw OrderError(order, "order 3 has no items"); // @throw
    }
    std::printf("order %d\n", order);
    std::fflush(stdout);
}

int main() {
    for (int order = 1; order < 5; order++) {
        check(order); // @check
    }
    return 0;
}
