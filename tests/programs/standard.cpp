// Values of the standard library that hold another one.
#include <any>
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
#include <functional>
#include <atomic>
#include <chrono>
#include <cstdio>
struct P { int x; double y; std::string name; };
enum class Color { Red, Green = 5 };
int work(int n) {
    std::optional<int> some = 42, none;
    std::optional<P> op = P{1, 2.5, "pt"};
    std::variant<int, std::string, P> v = std::string("hello");
    std::variant<int, std::string, P> vi = 7;
    std::any a = 5;
    std::any ae;
    std::unordered_map<std::string, int> um{{"one", 1}, {"two", 2}};
    std::map<std::string, std::vector<int>> m{{"a", {1, 2}}, {"b", {}}};
    std::unordered_set<int> us{1, 2, 3};
    std::set<std::string> s{"x", "y"};
    std::string_view sv = "a view of text\xff";
    std::unique_ptr<P> up = std::make_unique<P>(P{3, 4.5, "up"});
    std::unique_ptr<P> un;
    std::shared_ptr<P> sp = std::make_shared<P>(P{5, 6.5, "sp"});
    std::shared_ptr<P> sp2 = sp;
    std::weak_ptr<P> wp = sp;
    std::pair<int, std::string> pr{1, "pair"};
    std::tuple<int, std::string, double> t{1, "tuple", 2.5};
    std::array<int, 3> arr{1, 2, 3};
    std::deque<int> dq{1, 2, 3};
    std::list<int> li{4, 5};
    std::vector<bool> vb{true, false, true};
    std::vector<P> vp{{1, 1.5, "v1"}, {2, 2.5, "v2"}};
    std::function<int(int)> f = [n](int k) { return n + k; };
    std::atomic<int> at{9};
    std::chrono::milliseconds ms{1500};
    Color c = Color::Green;
    P *pp = up.get();
    P &ref = *pp;
    std::optional<int> *to_some = &some, *to_none = nullptr;
    const char *cs = "c string";
    wchar_t wc = L'é';
    std::wstring ws = L"wide";
    std::u16string u16 = u"u16 té";
    char ca[8] = "chars";
    auto lam = [&n](int z) { return z * n; };
    n += lam(2);  // @here
    std::printf("%d %zu\n", n, um.size() + us.size() + ws.size() + u16.size() + ca[0] + wc);
    return n + f(1) + ref.x + at + (int)ms.count() + (int)c + cs[0];
}
int main() { return work(3) & 1; }
