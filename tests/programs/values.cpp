// Values of many C++ shapes, and an exception that is caught one level up.
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

struct Point {
    int x;
    int y;
};

struct Shape {
    std::string name;
    Point corner;
    std::vector<Point> outline;
};

struct Node {
    int value;
    Node *next;
};

enum class Colour { red, green, blue };

template <typename T> T largest(T a, T b) {
    return a < b ? b : a; // @template
}

static int area(int side) {
    return side * side; // @area_int
}

static double area(double width, double height) {
    return width * height; // @area_double
}

static int parse(const std::string &text) {
    if (text.empty()) {
        throw std::runtime_error("nothing to parse"); // @throw
    }
    return std::stoi(text);
}

static int parse_or(const std::string &text, int otherwise) {
    try {
        return parse(text); // @try
    } catch (const std::runtime_error &error) {
        std::printf("caught %s\n", error.what()); // @catch
        return otherwise;
    }
}

int main() {
    std::vector<int> numbers(200);
    for (int i = 0; i < 200; i++) {
        numbers[i] = i * i;
    }
    std::map<std::string, int> ages{{"ada", 36}, {"grace", 45}, {"linus", 21}};
    std::string text = "hello";
    std::string long_text(10000, 'y');
    Shape shape{"triangle", {1, 2}, {{0, 0}, {4, 0}, {0, 3}}};
    auto owned = std::make_unique<Point>(Point{7, 8});
    std::unique_ptr<Point> nothing;
    Node node{1, nullptr};
    node.next = &node;
    Colour colour = Colour::green;
    unsigned char byte = 0xff;
    double ratio = 0.1;
    bool done = false;

    int factor = 3;
    auto scale = [factor](int n) {
        return n * factor; // @lambda
    };
    int scaled = scale(14);
    int top = largest(scaled, largest(area(5), static_cast<int>(area(2.5, 4.0))));
    int parsed = parse_or("", -1);
    done = true;
    long total = std::accumulate(numbers.begin(), numbers.end(), 0L);
    std::printf("%ld %d %d %zu %s\n", total, top, parsed, ages.size(), text.c_str()); // @ready
    std::printf("%zu %s %d %d %d %d %.1f %d %d\n", long_text.size(), shape.name.c_str(), owned->x,
                nothing ? 1 : 0, node.next->value, static_cast<int>(colour), ratio, byte, done);
    return 0;
}
