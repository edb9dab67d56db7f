#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

int main() {
  std::unordered_map<std::string, std::vector<std::string>> groups{{"even", {"two", "four"}}};
  std::unordered_set<std::string> names{"one"};
  std::unordered_map<int, int> squares{{3, 9}};
  std::string bytes("a\0b\x01\xff", 5);
  std::string text = "sch\u00f6n \"x\"\n";
  return bytes.size() + text.size() + groups.size() + names.size() + squares.size();  // @here
}
