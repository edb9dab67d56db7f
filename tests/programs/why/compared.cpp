// Checks that fail because one part of a value is wrong.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

struct Item {
    int id;
    std::string name;
    int price;
    Item(int id, std::string name, int price) : id(id), name(std::move(name)), price(price) {}
    bool operator==(const Item &o) const { return id == o.id && name == o.name && price == o.price; }
};

struct Block {
    int size;
    int used[3];
};

static std::vector<Item> list_items(int count) {
    std::vector<Item> items;
    for (int i = 0; i < count; i++)
        items.emplace_back(i, "item", i * 10);
    items[2].price += 1; // @price
    return items;
}

static void to_upper(char *out, const char *text) {
    size_t i;
    for (i = 0; text[i]; i++)
        if (text[i] >= 'a' && text[i] < 'z')
            out[i] = text[i] - 32;
        else
            out[i] = text[i]; // @letter
    out[i] = 0;
}

static void fill(Block *block, int size) {
    block->size = size;
    for (int i = 0; i < 3; i++)
        block->used[i] = size;
    block->used[1] = size - 1; // @used
}

int main(int argc, char **argv) {
    std::string which = argc > 1 ? argv[1] : "";
    if (which == "items") {
        std::vector<Item> got = list_items(4);
        std::vector<Item> want{{0, "item", 0}, {1, "item", 10}, {2, "item", 20}, {3, "item", 30}};
        assert(got.size() == 4 && got == want);
    }
    if (which == "text") {
        char *got = (char *)malloc(32);
        to_upper(got, "lazy dog");
        if (strcmp(got, "LAZY DOG") != 0)
            abort();
    }
    if (which == "memory") {
        Block got, want = {7, {7, 7, 7}};
        fill(&got, 7);
        assert(memcmp(&want, &got, sizeof got) == 0);
    }
}
