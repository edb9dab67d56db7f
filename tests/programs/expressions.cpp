// All that an expression can name in C++, at one line.
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

int kept = 90;  // hidden by a member below

namespace audio {
double rate = 44.1;
enum class Mode { off, on = 3 };
struct Base {
  int kept = 4;
};
struct Track : Base {
  std::string name = "a name that is too long for the string itself";
  std::vector<int> notes{1, -2, 3};
  Mode mode = Mode::on;
  bool loud = true;
  long level() const { return static_cast<long>(notes.size()) + kept; }  // @inside
};
}  // namespace audio

struct Counter {
  static int made;
};
int Counter::made = 12;

int main(int argc, char **) {
  audio::Track track;
  audio::Track &ref = track;
  const std::string small = "eve";
  std::string_view view = small;
  std::vector<std::string> words{"one", "two", "three"};
  std::vector<audio::Track> tracks(2);
  std::array<short, 3> fixed{7, 8, 9};
  std::map<int, int> map{{1, 2}, {3, 4}};
  auto owner = std::make_unique<audio::Track>();
  unsigned char byte = 200;
  long shadow = 1;
  for (int shadow = 5; shadow < 6; shadow++) {
    std::printf("%d %zu %f\n", shadow + argc, view.size() + map.size(), audio::rate);  // @here
  }
  return shadow + byte + fixed[0] + ref.kept + owner->kept > 1000 ? Counter::made : track.level() == 0;
}
