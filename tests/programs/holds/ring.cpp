// A ring buffer's size is raised past its limit by a merge that does not ask for room.
#include <cstdio>
#include <memory>
#include <vector>

class Ring {
public:
    explicit Ring(unsigned limit) : limit_(limit) {}

    bool push(int value) {
        if (rows_.size() >= limit_)
            return false;
        add(value);
        return true;
    }

    void merge(const Ring &other) {
        for (int value : other.rows_)
            add(value);
    }

    unsigned size_ = 0;
    unsigned limit_;
    std::vector<int> rows_;

private:
    void add(int value) {
        rows_.push_back(value);
        size_++;
    }
};

static int total(const Ring &ring) {
    int all = 0;
    for (int value : ring.rows_)
        all += value;
    return all;
}

struct Basket {
    std::vector<int> items;
    void put(int item) { items.push_back(item); }
};

static void weigh(Basket &basket) { (void)basket; }

int main() {
    Basket basket;
    for (int i = 0; i < 3; i++) {
        basket.put(i);
        weigh(basket);
    }
    std::vector<std::unique_ptr<Ring>> rings;
    for (unsigned i = 0; i < 5; i++) {
        rings.push_back(std::make_unique<Ring>(4));
        for (unsigned n = 0; n < 3 + i % 2; n++)
            rings[i]->push(n);
    }
    for (const auto &one : rings)
        std::printf("%d\n", total(*one));
    rings[0]->merge(*rings[1]);
    for (const auto &one : rings)
        std::printf("%d\n", total(*one));
}
