// clang leaves the type of a std::string's first member out of the debug information.
#include <cstdio>
#include <map>
#include <string>
#include <vector>
int main() {
    std::vector<std::string> names{"a", "b", "a longer text than fits in place"};
    std::map<std::string, int> fields{{"one", 1}, {"two", 2}};
    std::string plain = "plain";
    std::printf("%zu\n", names.size() + fields.size() + plain.size());  // @ready
    return 0;
}
