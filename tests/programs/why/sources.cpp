#include <cstdlib>
#include <fstream>
#include <memory>
#include <thread>

static int total = 0;

static void work(int count) {
    total = count * 2; // @work
}

struct Node {
    long pad[2];
    long key;
};

static long read_freed()
{
    Node *raw = nullptr;
    {
        auto shared = std::make_shared<Node>(Node{{1, 2}, 15}); // @made
        raw = shared.get();
    } // @freed
    return raw->key; // @stale
}

int main(int argc, char **argv) {
    std::thread worker(work, 21);
    worker.join();
    int doubled = total; // @copy
    std::ifstream input(argv[1]);
    int number = 0;
    input >> number; // @input
    read_freed();
    (void)argc; // @read
    return doubled + number > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
