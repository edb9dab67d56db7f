// Maps, bits, wide letters, bytes with zeros in them, pointers to members, complex numbers.
#include <complex>
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

struct Item {
    int id = 1;
    int price = 2;
    int get() const { return price; }
    virtual void show() {}
};

int main() {
    unsigned char raw[4] = {1, 0, 2, 3};
    char cut[8] = {'a', 'b', 0, 'c'};
    char buffer[40] = "short";
    buffer[20] = 'x';
    int Item::*field = &Item::price;
    int Item::*none = nullptr;
    int (Item::*method)() const = &Item::get;
    std::complex<double> point(1.5, -2);
    std::vector<bool> bits{true, false, true};
    wchar_t wide[] = L"wide\u00e9";
    const wchar_t *pointer = wide;
    const char16_t *sixteen = u"six";
    std::wstring text = L"letters";
    std::map<std::string, int> ages{{"ann", 31}, {"bob", 42}};
    std::map<int, std::string> names{{3, "three"}, {9, "nine"}};
    std::unordered_map<int, int> squares{{10, 100}, {20, 400}};
    std::deque<int> queue{7, 8, 9};
    int x = 5;
    for (int i = 0; i < 2; i++) {
        int x = 99 + i;
        printf("%d\n", x); // @inner
    }
    int sum = raw[2] + cut[1] + buffer[0] + (int)point.real() + (int)bits.size() + x; // @shown
    sum += (Item().*method)() + Item().*field + (none == nullptr) + pointer[0] + sixteen[0];
    return sum + (int)(text.size() + ages.size() + names.size() + squares.size() + queue[0]) == 0;
}
