// With gcc -O2 a part of read_field, and of main, lies apart from the rest (.cold).
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
struct Store { std::map<std::string, int> fields; };
__attribute__((noinline)) int before(int x) { return x * 3; }
__attribute__((noinline)) int read_field(const Store& store, const std::string& name) {  // @read
    auto found = store.fields.find(name);
    if (found == store.fields.end()) {
        throw std::runtime_error("no field " + name);
    }
    return found->second + static_cast<int>(name.size());
}
__attribute__((noinline)) int after(int x) { return x * 5; }
int main(int argc, char**) {  // @main
    Store store{{{"one", 1}, {"two", 2}}};
    int total = before(argc);
    total += read_field(store, "two");
    total += after(argc);
    std::printf("%d\n", total);
    return 0;
}
