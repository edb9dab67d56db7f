// Items that are put into containers of C++ and taken out again.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <queue>
#include <stack>
#include <string>
#include <unordered_map>
#include <vector>

struct Job {
    int cost;
    int node;
    bool operator<(const Job &other) const { return cost > other.cost; }
};

static std::vector<int> edges = {1, 2, 3, 4, 5, 6};

static int target_of(int from)
{
    int found = edges.at(from); // @target
    return found; // @found
}

static void mark(std::vector<char> &seen, int node)
{
    if (node >= (int)seen.size())
        std::abort(); // @mark
    seen[node] = 1;
}

static void walk_queue(std::vector<char> &seen)
{
    std::queue<int> work;
    work.push(0);
    while (!work.empty()) {
        int node = work.front(); // @front
        work.pop();
        mark(seen, node);
        int next = target_of(node); // @queue-next
        work.push(next); // @queue-push
    }
}

static void walk_heap(std::vector<char> &seen)
{
    std::priority_queue<Job> work;
    work.push(Job{0, 0});
    while (!work.empty()) {
        Job job = work.top(); // @top
        work.pop();
        mark(seen, job.node);
        int next = target_of(job.node); // @heap-next
        work.push(Job{job.cost + 1, next}); // @heap-push
    }
}

static void walk_stack(std::vector<char> &seen)
{
    std::vector<int> work;
    work.push_back(0);
    while (!work.empty()) {
        int node = work.back(); // @back
        work.pop_back();
        mark(seen, node);
        work.push_back(target_of(node)); // @stack-push
    }
}

static void walk_map(std::vector<char> &seen)
{
    std::unordered_map<int, int> next_of;
    for (int from = 0; from < 6; from++) {
        int next = target_of(from); // @map-next
        next_of.emplace(from, next); // @map-emplace
    }
    int node = 0;
    for (int step = 0; step < 9; step++) {
        mark(seen, node);
        node = next_of.at(node); // @map-at
    }
}

int main(int argc, char **argv)
{
    std::vector<char> seen(6);
    std::string kind = argc > 1 ? argv[1] : "queue";
    if (kind == "queue")
        walk_queue(seen);
    else if (kind == "heap")
        walk_heap(seen);
    else if (kind == "stack")
        walk_stack(seen);
    else
        walk_map(seen);
}
