// Small bugs, chosen by the first argument.
#include <cassert>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

struct Base {
    virtual ~Base() { stop(); }
    void stop() { release(); }
    virtual void release() = 0;
};

struct Pump : Base {
    void release() override {}
};

static void pure() { Pump pump; }

static void empty() {
    std::vector<int *> levels; // @empty
    std::cout << *levels.back();
}

static void text() {
    std::string port = ""; // @text
    std::cout << std::stoi(port);
}

static void ended() {
    std::unordered_map<std::string, int> prices{{"tea", 3}};
    auto it = prices.find("coffee"); // @ended
    std::cout << it->second;
}

struct Config {
    std::string title = "the title of the whole configuration";
};

static std::string_view title() {
    Config config;
    return config.title;
} // @view

static void view() {
    std::string_view shown = title();
    assert(shown[8] == 'e');
}

struct Node {
    int qty = 0;
    Node *next = nullptr;
    int *level = nullptr;
};

static void reference() {
    std::vector<Node> nodes(2);
    nodes[0].next = &nodes[1];
    Node &first = nodes[0];
    nodes.push_back(Node{}); // @reference
    std::cout << first.next->qty << *first.next->level;
}

static void iterator() {
    std::vector<Node *> nodes(4, new Node);
    auto it = nodes.begin();
    for (int i = 0; i < 100; i++)
        nodes.push_back(nodes[0]); // @iterator
    std::cout << (*it)->qty;
}

int main(int argc, char **argv) {
    std::string bug = argc > 1 ? argv[1] : "";
    if (bug == "pure") pure();
    if (bug == "empty") empty();
    if (bug == "text") text();
    if (bug == "ended") ended();
    if (bug == "view") view();
    if (bug == "reference") reference();
    if (bug == "iterator") iterator();
}
