// A value that is copied through containers, objects and returns.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct Order {
    long total;
    Order *next;
};

class Ledger {
  public:
    void add(long amount)
    {
        amounts_.push_back(amount); // @push
    }

    long last() const
    {
        return amounts_.back(); // @back
    }

    void keep(int key, long amount)
    {
        by_key_[key] = amount; // @keep
    }

    long find(int key) const
    {
        auto it = by_key_.find(key);
        return it->second; // @second
    }

  private:
    std::vector<long> amounts_;
    std::map<int, long> by_key_;
};

static long read_amount()
{
    long amount = 424242; // @origin
    return amount;
}

static void show(const Order &order)
{
    std::printf("%ld\n", order.total); // @show
}

int main()
{
    Ledger ledger;
    ledger.add(read_amount());
    long got = ledger.last(); // @got
    ledger.keep(3, got);
    auto order = std::make_unique<Order>();
    order->total = ledger.find(3); // @total
    show(*order);
    return 0;
}
