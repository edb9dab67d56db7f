// Structs that calls return by a hidden pointer, and take by value.
#include <cstdio>
#include <string>

struct Box {
    long x, y, w, h;
};

struct Order {
    std::string name;
    long total = 0;
};

Box make(long n) {
    Box b{n, n * 2, 3, 4};
    return b;
}

Box grow(Box b) {
    b.w += 5; // @grow
    return b; // @grown
}

Box flip(const Box &b) {
    return Box{b.y, b.x, b.h, b.w}; // @flip
}

Order discount(Order o, long by) {
    o.total -= by; // @discount
    return o;      // @discounted
}

int main() {
    Order first;
    first.name = "x";
    first.total = 30;
    Box b = flip(grow(make(7))); // @nested
    long z = flip(make(9)).x;    // @field
    Order o = discount(discount(first, 4), 2);
    std::printf("%ld %ld %ld\n", b.h, z, o.total); // @show
    return 0;
}
