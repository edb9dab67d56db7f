// Throws exceptions of many shapes, one after the other, and catches them; the last one if asked.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

struct Virtual : virtual std::exception {
    const char *what() const noexcept override { return "virtual what"; }
};
struct Most : virtual Virtual {
    int extra = 1;
};
struct Other {
    virtual ~Other() {}
    int number = 1;
};
struct Second : Other, std::runtime_error {
    Second() : std::runtime_error("second base") {}
};
namespace {
struct Hidden : std::logic_error {
    using std::logic_error::logic_error;
};
} // namespace
template <class T> struct Holds : std::runtime_error {
    explicit Holds(T held) : std::runtime_error("holds"), value(held) {}
    T value;
};
struct Plain {
    int code;
};

template <class F> static void caught(F thrower) {
    try {
        thrower();
    } catch (...) {
        std::puts("caught");
    }
}

int main(int argc, char **) {
    caught([] { throw Most(); });
    caught([] { throw Second(); });
    caught([] { throw Hidden("hidden"); });
    caught([] { throw Holds<int>(3); });
    caught([] {
        Plain plain{7};
        throw plain;
    });
    caught([] { throw 42; });
    caught([] { throw "text"; });
    caught([] { throw std::string("a string"); });
    caught([] { (void)std::vector<int>(2).at(5); });
    caught([] {
        try {
            throw std::out_of_range("again");
        } catch (...) {
            throw;
        }
    });
    if (argc > 1) {
        throw std::runtime_error("nobody catches this"); // @uncaught
    }
    return 0;
}
