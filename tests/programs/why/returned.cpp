// Values that are written into memory which has them already, and that are moved.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct Order {
    int id;
    int quantity;
    std::string name;
};

static Order make_order(int id)
{
    Order made;
    made.id = id;
    made.quantity = id - 3; // @quantity
    made.name = "x";
    return made; // @return
}

static std::vector<int> load_sizes(int count)
{
    std::vector<int> sizes;
    for (int i = 0; i < count; i++)
        sizes.push_back(i * 7 - 14); // @push
    return sizes;
}

int main()
{
    int left = make_order(3).quantity; // @left
    std::vector<int> sizes = load_sizes(6);
    Order other = make_order(5);
    printf("%d %d %d\n", left, sizes[3], other.quantity);
    std::abort();
}
