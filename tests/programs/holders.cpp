// What is hard to look into in C++: containers of many kinds, what a pointer really points to, a base
// that is shared, a variable of each thread, numbers that are wider than a word.
#include <cstdio>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const { return 0; }
    int sides = 0;
};

struct Circle : Shape {
    double radius = 2;
    double area() const override { return 3 * radius * radius; }
};

struct Named {
    int id = 6;
};

struct Boat : virtual Named {
    int oars = 2;
};

struct Plane : virtual Named {
    int wings = 4;
};

struct Seaplane : Boat, Plane {
    int seats = 9;
};

thread_local int own = 17;
static thread_local long other = -3;

int main() {
    Circle circle;
    Shape *shape = &circle;
    Shape &same = circle;
    std::unique_ptr<Shape> owned = std::make_unique<Circle>();
    std::shared_ptr<int> shared = std::make_shared<int>(8);
    std::list<int> list{1, 2, 3};
    std::forward_list<int> forward{4, 5};
    std::deque<int> deque;
    for (int i = 0; i < 300; i++) {
        deque.push_back(i);
    }
    deque.pop_front();
    std::set<std::string> set{"a", "b"};
    std::unordered_map<int, std::string> unordered{{1, "one"}};
    std::unordered_set<int> distinct{7};
    std::variant<int, std::string> variant = "text";
    std::optional<int> nothing;
    std::optional<int> something = 3;
    std::tuple<int, std::string> tuple{1, "two"};
    std::pair<int, double> pair{1, 0.5};
    Seaplane seaplane;
    __int128 wide = -170141183460469231731687303715884105727LL;
    wide = (static_cast<__int128>(1) << 100) + 1;
    long double precise = 1.25L;
    own++;
    std::printf("%f %d %ld %d\n", shape->area(), own, other, *shared); // @here
    std::printf("%zu %zu %d %d\n", list.size(), deque.size(), seaplane.id, nothing.has_value());
    return same.sides + owned->sides + static_cast<int>(precise) + static_cast<int>(wide >> 100);
}
