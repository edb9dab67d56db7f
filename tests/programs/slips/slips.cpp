// Small bugs, chosen by the first argument.
#include <iostream>
#include <string>
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

int main(int argc, char **argv) {
    std::string bug = argc > 1 ? argv[1] : "";
    if (bug == "pure") pure();
    if (bug == "empty") empty();
    if (bug == "text") text();
    if (bug == "ended") ended();
}
