#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual int area() const = 0;
    virtual int cut(int by) { return area() / by; }
};
struct Square : Shape {
    int side;
    explicit Square(int side) : side(side) {}
    int area() const override { return side * side; }
};
struct Strip : Shape {
    int length;
    explicit Strip(int length) : length(length) {}
    int area() const override { return length; }
    int cut(int by) override {
        if (by % 3 == 0)
            throw std::runtime_error("by " + std::to_string(by));
        return length % by;
    }
};
struct Counted {
    static int live;
    Counted() { live++; }
    ~Counted() { live--; }
};
int Counted::live = 0;

static int nested(Shape &shape, int by) {
    Counted one;
    try {
        return shape.cut(by);
    } catch (const std::logic_error &) {
        return -1;
    }
}

int main() {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 1; i < 8; i++) {
        if (i % 2)
            shapes.push_back(std::make_unique<Square>(i));
        else
            shapes.push_back(std::make_unique<Strip>(i * 5));
    }
    std::map<std::string, int> caught;
    int sum = 0;
    for (int by = 1; by < 10; by++)
        for (auto &shape : shapes) {
            try {
                sum += nested(*shape, by);
            } catch (const std::exception &error) {
                caught[error.what()]++;
            }
        }
    for (const auto &[what, count] : caught)
        std::printf("%s: %d\n", what.c_str(), count);
    std::printf("%d %d\n", sum, Counted::live);
    return sum % 40;
}
