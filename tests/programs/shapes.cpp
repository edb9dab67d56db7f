// Types of every shape, scopes that hide one another, and functions that are inlined.
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

namespace zoo {
int visitors = 12;
static long ticket = -3;

struct Animal {
    int legs;
    const char *sound;
    virtual ~Animal() {}
};

struct Dog : Animal {
    std::string name;
    static int count;
};
int Dog::count = 5;
} // namespace zoo

struct Flags {
    unsigned first : 3;
    int second : 5;
    unsigned long third : 40;
};

union Either {
    int whole;
    float part;
};

enum Plain { one = 1, two = 2, four = 4 };
enum class Level : short { low = -1, high = 7 };
typedef int (*Callback)(int, char);
typedef struct {
    double x, y;
} Pair;

namespace {
int hidden(int n) {
    return n - 1; // @hidden
}
} // namespace

static int callback(int a, char b) {
    return hidden(a) + b; // @callback
}

template <typename T> struct Box {
    T held;
    T twice(T more) {
        return held + held + more; // @twice
    }
};

static inline __attribute__((always_inline)) int inner(int n) {
    int doubled = n * 2;
    std::printf("%d\n", doubled); // @inner
    return doubled + 1;
}

static inline __attribute__((always_inline)) int middle(int n) {
    int more = inner(n + 1); // @middle
    return more + inner(n);
}

__attribute__((noinline)) static int outer(int n) {
    return middle(n) + 1; // @outer
}

__attribute__((noinline)) static int deep(int n, volatile int *out) {
    if (n == 0) {
        *out = 9; // @deep
        throw std::runtime_error("deep");
    }
    return deep(n - 1, out) + 1; // @deeper
}

__attribute__((noinline)) static int show(zoo::Dog &dog, const Flags *flags, Plain plain, double ratio) {
    static int calls = 3;
    int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    char letters[8] = "abc";
    Either either;
    either.whole = 0x3f800000;
    Level level = Level::high;
    Plain both = static_cast<Plain>(one | four);
    Callback call = callback;
    Pair pair{1.5, -2.25};
    float third = 0.1f;
    bool yes = true;
    signed char small = -5;
    const int *nothing = nullptr;
    const int *wild = reinterpret_cast<const int *>(0x10);
    const char *words = "caf\xc3\xa9 \"x\"\n";
    std::optional<int> maybe(4), none;
    std::array<int, 3> three{7, 8, 9};
    std::set<int> some{3, 1, 2};
    std::unique_ptr<int> owned(new int(6));
    Box<int> box{20};
    int value = 1;
    {
        int value = 2;
        long double wide = 2.5L;
        std::printf("%d %d %f\n", value, calls, (double)wide); // @shown
    }
    calls += box.twice(value) + call(grid[1][2], letters[0]);
    return calls + dog.legs + (int)flags->first + plain + both + yes + small + (int)third + (int)pair.x +
           (int)level + (nothing != wild) + words[0] + *maybe + three[0] + *some.begin() + *owned +
           none.has_value() + either.whole + (int)ratio;
}

int main(int argc, char **) {
    zoo::Dog dog;
    dog.legs = 4;
    dog.sound = "woof";
    dog.name = "rex";
    Flags flags{5, -7, 1UL << 39};
    int total = show(dog, &flags, two, 0.5);
    volatile int out = 0;
    try {
        total += deep(2, &out);
    } catch (const std::exception &error) {
        total += out; // @caught
    }
    std::printf("%d %ld\n", total + outer(argc), zoo::ticket + zoo::visitors + zoo::Dog::count);
    return 0;
}
