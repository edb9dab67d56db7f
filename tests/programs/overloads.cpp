// Functions that patterns and lists of arguments tell apart; ends with status 0.
namespace a {
int f(int x) { return x + 1; }
int f(double x) { return static_cast<int>(x); }
} // namespace a

struct Shape {
    int one(int x) { return x; }
    int two(int x) { return x * 2; }
};

static int incr(int x) {
    int y = x + 2;
    return y; // @incr
}

int main() {
    Shape shape;
    int sum = 0; // @main
    for (int i = 0; i < 2; i++) {
        sum += shape.one(i) + shape.two(i) + incr(i) + a::f(i) + a::f(2.5);
    }
    return sum == 0;
}
