// Times of a day in which something is booked, in minutes since midnight.
#pragma once

#include <algorithm>
#include <vector>

struct Slot {
    int from;
    int to;
};

class Day {
public:
    // Book a time; false where it is taken.
    bool book(int from, int to) {
        for (const Slot &slot : slots_)
            if (from <= slot.to && to > slot.from)
                return false;
        slots_.push_back({from, to});
        std::sort(slots_.begin(), slots_.end(),
                  [](const Slot &one, const Slot &other) { return one.from < other.from; });
        return true;
    }

    int booked() const {
        int minutes = 0;
        for (const Slot &slot : slots_)
            minutes += slot.to - slot.from;
        return minutes;
    }

private:
    std::vector<Slot> slots_;
};
