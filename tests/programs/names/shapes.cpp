#include "second.h"
namespace geo {
namespace {
int hidden(int a) {
  return a + 1;
}
}
struct Box {
  int width = 2;
  int area(int k) const {
    return width * k;
  }
};
template <typename T> T twice(T v) {
  return v + v;
}
int over(int a) {
  return a;
}
int over(double a) {
  return static_cast<int>(a) + 1;
}
}
static int same(int a) {
  return a * 2;
}
int main() {
  geo::Box box;
  int sum = geo::hidden(1) + box.area(2) + geo::twice(2) + static_cast<int>(geo::twice(2.5));
  sum += geo::over(1) + geo::over(1.5) + same(1) + second(2);
  return sum > 0 ? 0 : 1;
}
