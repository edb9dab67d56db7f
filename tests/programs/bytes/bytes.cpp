#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main() {
    std::string text = "GET /index.html";
    std::vector<uint8_t> request(text.begin(), text.end());
    std::array<uint8_t, 5> word{'h', 'e', 'l', 'l', 'o'};
    std::vector<uint8_t> few{1, 2, 255, 65, 66};
    std::printf("%zu %zu %zu\n", request.size(), word.size(), few.size());  // @end
}
