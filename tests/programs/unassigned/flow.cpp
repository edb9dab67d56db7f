// Locals around exceptions, destructors, lambdas and loops.
#include <cstdio>
#include <stdexcept>
#include <string>

static volatile int sink;

static __attribute__((noinline)) void fill_stack()
{
    volatile unsigned char bytes[4096];
    for (unsigned at = 0; at < sizeof bytes; at++)
        bytes[at] = 0x5a;
    sink = bytes[17];
}

struct Counted {
    explicit Counted(int value) : value(value) { sink = value; }
    ~Counted() { sink = -value; }
    int value;
};

static int risky(int value)
{
    if (value % 2)
        throw std::runtime_error("odd");
    return value * 3;
}

static int work(int count)
{
    int total = 0; // @entry
    Counted counted(count);
    std::string text = "abc";
    for (int turn = 0; turn < count; turn++) {
        int before = turn + 1;
        try {
            int got = risky(turn);
            total += got + before;
        } catch (const std::exception &error) {
            int caught = 5;
            total += caught + error.what()[0];
        }
        int after = total;
        total = after + 1;
    }
    auto add = [&](int more) {
        int sum = total + more;
        return sum;
    };
    int added = add(3); // @late
    const int &reference = added;
    for (char letter : text) {
        int code = letter;
        total += code;
    }
    Counted other(reference);
    return total + other.value + counted.value;
}

int main()
{
    fill_stack();
    int first = work(4); // @call
    int second = first;
    std::printf("%d\n", second);
    return 0;
}
