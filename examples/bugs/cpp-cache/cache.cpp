// A cache of pages with a budget of bytes; what was used longest ago is dropped first.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <string>
#include <unordered_map>

struct Page {
    std::string name;
    long size;
    int uses;
};

class Cache {
public:
    explicit Cache(long budget) : budget_(budget) {}

    const Page &get(const std::string &name, long size)
    {
        auto found = where_.find(name);
        if (found != where_.end()) {
            pages_.splice(pages_.begin(), pages_, found->second);
            found->second->uses++;
            return *found->second;
        }
        make_room(size);
        pages_.push_front({name, size, 1});
        where_[name] = pages_.begin();
        used_ += size;
        return pages_.front();
    }

    void resize(const std::string &name, long size)
    {
        auto found = where_.find(name);
        if (found == where_.end())
            return;
        used_ += size - found->second->size;
        found->second->size = size;
    }

    void forget(const std::string &name)
    {
        auto found = where_.find(name);
        if (found == where_.end())
            return;
        pages_.erase(found->second);
        where_.erase(found);
    }

    long used() const { return used_; }

    long counted() const
    {
        long total = 0;
        for (const Page &page : pages_)
            total += page.size;
        return total;
    }

private:
    void make_room(long size)
    {
        while (!pages_.empty() && used_ + size > budget_) {
            used_ -= pages_.back().size;
            where_.erase(pages_.back().name);
            pages_.pop_back();
        }
        if (pages_.empty())
            used_ = size;
    }

    long budget_;
    long used_ = 0;
    std::list<Page> pages_;
    std::unordered_map<std::string, std::list<Page>::iterator> where_;
};

static int audit(const Cache &cache)
{
    long counted = cache.counted();
    long used = cache.used();
    if (counted != used)
        std::printf("used %ld, but its pages have %ld\n", used, counted);
    return counted != used;
}

static int serve(Cache &cache)
{
    int wrong = 0;
    cache.get("index", 400);
    cache.get("style", 250);
    cache.get("index", 400);
    cache.resize("style", 300);
    wrong += audit(cache);
    cache.get("photo", 900);
    wrong += audit(cache);
    return wrong;
}

int main()
{
    Cache cache(1000);
    return serve(cache) ? 1 : 0;
}
