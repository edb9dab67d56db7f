// A roster of shifts: who works when, and who steps in for whom.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

struct Shift {
    std::string day;
    std::string worker;
    int hours;
};

class Roster {
public:
    Shift& add(const std::string& day, const std::string& worker, int hours) {
        shifts_.push_back({day, worker, hours});
        by_day_[day].push_back(shifts_.size() - 1);
        return shifts_.back();
    }

    Shift* find(const std::string& day, const std::string& worker) {
        const auto found = by_day_.find(day);
        if (found == by_day_.end()) return nullptr;
        for (const std::size_t at : found->second) {
            if (shifts_[at].worker == worker) return &shifts_[at];
        }
        return nullptr;
    }

    // Splits a shift: somebody else takes over the hours that are too many.
    void relieve(const std::string& day, const std::string& worker, const std::string& other, int most) {
        Shift* shift = find(day, worker);
        if (shift == nullptr || shift->hours <= most) return;
        Shift& relief = add(day, other, shift->hours - most);
        shift->hours = most;
        reliefs_ += relief.hours;
    }

    int hours_of(const std::string& worker) const {
        int sum = 0;
        for (const Shift& shift : shifts_) {
            if (shift.worker == worker) sum += shift.hours;
        }
        return sum;
    }

    std::size_t size() const { return shifts_.size(); }
    int reliefs() const { return reliefs_; }

private:
    std::vector<Shift> shifts_;
    std::map<std::string, std::vector<std::size_t>> by_day_;
    int reliefs_ = 0;
};

int main() {
    Roster roster;
    roster.add("monday", "abel", 8);
    roster.add("monday", "brandt", 10);
    roster.add("tuesday", "abel", 12);
    roster.relieve("monday", "brandt", "curie", 8);
    roster.relieve("tuesday", "abel", "curie", 8);
    int planned = 0;
    for (const char* worker : {"abel", "brandt", "curie"}) {
        const int hours = roster.hours_of(worker);
        std::printf("%s: %d hours\n", worker, hours);
        planned += hours;
    }
    std::printf("%zu shifts, %d hours relieved\n", roster.size(), roster.reliefs());
    return planned == 30 ? 0 : 1;
}
