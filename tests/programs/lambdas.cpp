// Lambdas that a variable holds, that an algorithm is given, and of a method.
#include <algorithm>
#include <cstdio>
#include <vector>

struct Shop {
    int rate;
    int sum(std::vector<int> &items) {
        int total = 0;
        auto add = [&](int item) {
            total += item * rate; // @add
        };
        for (int item : items) add(item);
        return total;
    }
};

int main(int argc, char **) {
    std::vector<int> items{3, 1, 2};
    auto twice =
        [](int value) {
            return value * 2; // @twice
        };
    std::sort(items.begin(), items.end(), [](int one, int other) {
        return one < other; // @less
    });
    Shop shop{twice(argc)};
    std::printf("%d\n", shop.sum(items));
    return 0;
}
