// What a debugger has a hard time with: large and broken values, calls that do not come back, things
// thrown of many types, a thread that ends alone, and signals that are blocked. As its argument says.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

struct Plain {
    int code;
    const char *why;
};

struct Other {
    virtual ~Other() {}
    int number = 9;
};

struct Both : Other, std::logic_error {
    Both() : std::logic_error("from the second base") {}
};

struct Wide {
    long words[5];
};

static Plain last{7, "plain"};

struct Unknown {
    int code;
};

static int endless() {
    for (;;) {
    }
    return 1;
}

static int broken() { return *(volatile int *)8; }

static int twice(int n) {
    return 2 * n; // @twice
}

static void hurl(int what) {
    switch (what) { // @hurl
    case 0:
        throw 42;
    case 1:
        throw last;
    case 2:
        throw std::string("a text");
    case 3:
        throw Both();
    case 4:
        throw Unknown{8};
    default:
        throw std::out_of_range("far away");
    }
}

static void block_all() {
    sigset_t every;
    sigfillset(&every);
    sigprocmask(SIG_BLOCK, &every, nullptr);
    alarm(120);
    std::puts("blocked");
    std::fflush(stdout);
    for (;;) {
    }
}

int main(int argc, char **argv) {
    static int many[5000000];
    std::vector<int> million(1000000, 7);
    std::map<std::string, std::vector<int>> named{{"one", {1, 2}}, {"two", {}}};
    std::vector<int> *nowhere = reinterpret_cast<std::vector<int> *>(0x10);
    int &ref = million[5];
    const std::string text = "h\u00e9llo";
    const char *odd = "\xff\xfe";
    Wide wide{{1, 2, 3, 4, 5}};
    many[4999999] = 3;
    if (argc > 1 && std::strcmp(argv[1], "block") == 0) {
        block_all();
    }
    if (argc > 1 && std::strcmp(argv[1], "thread") == 0) {
        std::thread alone([] {
            int n = twice(1); // @alone
            (void)n;
        });
        alone.join();
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "calls") == 0) {
        return endless() + broken();
    }
    for (int i = 0; i < 6; i++) {
        try {
            hurl(i); // @try
        } catch (...) {
            wide.words[i % 5] += twice(ref);
        }
    }
    std::printf("%d %s %zu %p %s\n", many[4999999], text.c_str(), named.size(), (void *)nowhere, odd);
    for (int i = 1; i < argc; i++) {
        std::printf("[%s]\n", argv[i]);
    }
    return 0; // @end
}
