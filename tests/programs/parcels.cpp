// Containers of C++ whose own functions the program lacks, since nothing calls them.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

struct Label {
    int number = 0;
};

struct Parcel : Label {
    std::string name;
    int price = 0;
    std::vector<std::string> tags;
};

int total(const std::vector<Parcel>& parcels) {
    int sum = 0;
    for (const Parcel& parcel : parcels) {
        sum += parcel.price;  // @sum
    }
    return sum;
}

Parcel made(int number, const char* name, int price, std::vector<std::string> tags) {
    Parcel parcel;
    parcel.number = number;
    parcel.name = name;
    parcel.price = price;
    parcel.tags = std::move(tags);
    return parcel;
}

int main() {
    std::vector<Parcel> parcels;
    parcels.push_back(made(1, "tea", 3, {"hot"}));
    parcels.push_back(made(2, "ice", 5, {}));
    parcels.push_back(made(3, "jam", 7, {"red", "sweet"}));
    std::map<std::string, Parcel> by_name;
    for (const Parcel& parcel : parcels) by_name.emplace(parcel.name, parcel);
    std::unordered_map<int, double> rates{{2, 2.5}, {7, 7.5}};
    std::unique_ptr<Parcel> owned(new Parcel(parcels[0]));
    std::optional<int> maybe = 4;
    int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    char label[32] = "a \\000";
    int sum = total(parcels);
    return sum + *maybe + grid[1][2] + label[31] + static_cast<int>(rates.size());  // @here
}
