#include <cstdio>
#include <string>

struct Owner {
    std::string name;
    char tag[16];
};

int main() {
    Owner owner{"old", "abc"};
    std::printf("%s %s\n", owner.name.c_str(), owner.tag); // @shown
    return 0;
}
