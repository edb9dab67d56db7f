#include <cstdlib>
#include <fstream>
#include <thread>

static int total = 0;

static void work(int count) {
    total = count * 2; // @work
}

int main(int argc, char **argv) {
    std::thread worker(work, 21);
    worker.join();
    int doubled = total; // @copy
    std::ifstream input(argv[1]);
    int number = 0;
    input >> number; // @input
    (void)argc; // @read
    return doubled + number > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
