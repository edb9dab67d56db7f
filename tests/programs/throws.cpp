// Throws an exception and catches it itself.
#include <cstdio>
#include <stdexcept>

class OrderError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

static void check(int order) {
    if (order > 2) {
        throw OrderError("order 3 has no items"); // @throw
    }
}

int main() {
    for (int order = 1; order < 4; order++) {
        try {
            check(order); // @check
        } catch (const OrderError &error) {
            std::printf("caught: %s\n", error.what()); // @catch
        }
    }
    return 0;
}
