// A rate is chosen by a condition of one line, behind exceptions, jumps and threads.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

static std::jmp_buf again;

static int checked(int n) {
    if (n % 2) throw std::runtime_error("odd");
    return n;
}

static int caught(int n) {
    try {
        return checked(n);
    } catch (const std::exception &) {
        return -n;
    }
}

static void jumps(int depth) {
    if (depth == 0) std::longjmp(again, 1);
    jumps(depth - 1);
}

static int rate(int weight) {
    int price = weight * 2 + (weight < 7 ? 1 : 9);
    return price;
}

static void work() {
    for (int at = 0; at < 500; at++) caught(at);
}

int main(int count, char **words) {
    int weight = count > 1 ? std::atoi(words[1]) : 0;
    if (setjmp(again) == 0) jumps(3);
    std::thread other(work);
    other.join();
    work();
    int price = rate(weight);
    std::printf("price %d\n", price);
    if (price > 30) std::abort();
    return price > 20;
}
