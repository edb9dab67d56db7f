// Values in containers and smart pointers, by references, a lambda and a function on one line.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Item { int price; int count; };
struct Shop {
    std::vector<Item> items;
    std::map<int, int> stock;
    std::unique_ptr<Item> best;
    std::string name;
    int limit = 0;
    void set_limit(int value) { this->limit = value;  }
    void add(const Item &item)
    {
        items.push_back(item); // @push
    }
};
static int pick(int seed) { int chosen = seed; return chosen; } // @pick
static void change(int &value, int by) { value = by; } // @change
int main()
{
    int seed = 4321;
    int price = pick(seed); // @price
    Shop shop;
    Item item{price, 2}; // @item
    shop.add(item);
    shop.add(Item{11, 3});
    shop.stock[7] = price; // @stock
    shop.best = std::make_unique<Item>(item); // @best
    shop.name = "abcdefghijklmnopqrstuvwxyz"; // @name
    shop.set_limit(price);
    int other = 1;
    change(other, shop.stock.at(7)); // @changed
    std::vector<int> numbers(3);
    numbers[1] = price;
    int copy = numbers[1];
    auto twice = [&](int n) { return n + copy; }; // @twice
    int sum = twice(2);
    std::printf("%d %d %d %d %d %d %d\n", shop.items[0].price, shop.stock[7], shop.best->price, shop.limit, other, copy, sum); // @end
    return 0;
}
