// As live.c, in a class and a namespace.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace shop {

std::atomic<long> counter{0};
int bonus = 1;
volatile int go = 1;

class Till {
  public:
    static int twice(int value) {
        int doubled = value * 2; // @inner
        return doubled;
    }

    int work(int n) {
        int result = twice(n); // @call
        result += bonus;       // @after
        counter += result;     // @add
        calls.push_back(n);
        return result;
    }

    std::vector<int> calls;
};

}  // namespace shop

int main(int argc, char **argv) {
    shop::Till till, other;
    if (argc > 1 && std::strcmp(argv[1], "forever") == 0) {
        std::puts("running");
        std::fflush(stdout);
        while (shop::go) {
            till.work(1);
            till.calls.clear();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    } else if (argc > 1) {
        std::thread first([&] { till.work(100); }), second([&] { other.work(101); });
        first.join();
        second.join();
    } else {
        for (int n = 1; n <= 10; n++)
            till.work(n); // @loop
    }
    std::printf("counter %ld\n", shop::counter.load());
    return 0;
}
