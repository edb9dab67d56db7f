#include <cstdio>
#include <stdexcept>

struct Counted {
    static int live;
    Counted() { live++; }
    ~Counted() { live--; }
};
int Counted::live = 0;

struct Left {
    virtual ~Left() = default;
    virtual int go(int x) { return x; }
};
struct Right {
    virtual ~Right() = default;
    virtual int come(int x) { return x; }
};
struct Both : Left, Right {
    int own = 5;
    int go(int x) override {
        return x + own;
    }
    int come(int x) override {
        return x - own;
    }
};

static int thrower(int x) {
    if (x > 0)
        throw std::runtime_error("positive");
    return x;
}

static int quiet(int x) {
    try {
        return thrower(x);
    } catch (const std::exception &) {
        return 0;
    }
}

static int cleans(int x) {
    Counted one;
    int y = quiet(x);
    y += thrower(x);
    return y;
}

static int catches(int x) {
    int y = 0;
    try {
        y = cleans(x);
        y++;
    } catch (const std::logic_error &) {
        y = 1;
    } catch (const std::runtime_error &) {
        y = 2;
    }
    return y;
}

static int deep(int n) {
    try {
        if (n == 0)
            return thrower(1);
        return deep(n - 1);
    } catch (const std::logic_error &) {
        return 0;
    }
}

int main() {
    Both both;
    Left *left = &both;
    Right *right = &both;
    int sum = left->go(1);
    sum += right->come(2);
    sum += catches(0);
    sum += catches(1);
    try {
        sum += deep(3);
    } catch (...) {
        sum++;
    }
    std::printf("%d %d\n", sum, Counted::live);
    return 0;
}
