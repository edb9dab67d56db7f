#include "slots.h"

#include <gtest/gtest.h>

TEST(Day, RefusesWhatIsTaken) {
    Day day;
    EXPECT_TRUE(day.book(540, 600));
    EXPECT_FALSE(day.book(570, 630));
}

TEST(Day, BooksOneAfterTheOther) {
    Day day;
    day.book(540, 600);
    day.book(600, 660);
    int minutes = day.booked();
    EXPECT_EQ(minutes, 120);
}
