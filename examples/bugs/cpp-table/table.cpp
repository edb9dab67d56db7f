// A table of text that lays its columns out by what is in them.
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace table {

enum class Align { left, right };

struct Column {
    std::string title;
    Align align = Align::left;
    std::size_t width = 0;
};

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {
        for (auto& column : columns_) {
            column.width = column.title.size();
        }
    }

    void add(std::vector<std::string> cells) {
        rows_.push_back(std::move(cells));
        measure(rows_.back());
    }

    std::string text() const {
        std::ostringstream out;
        for (const auto& row : rows_) {
            write(out, row);
        }
        return out.str();
    }

private:
    void measure(const std::vector<std::string>& row) {
        const auto shared = std::min(row.size(), columns_.size());
        for (std::size_t at = 0; at < shared; ++at) {
            columns_[at].width = std::max(columns_[at].width, row[at].size());
        }
    }

    std::string padded(const std::string& cell, const Column& column) const {
        const std::string blanks(column.width - cell.size(), ' ');
        return column.align == Align::left ? cell + blanks : blanks + cell;
    }

    void write(std::ostringstream& out, const std::vector<std::string>& row) const {
        for (std::size_t at = 0; at < row.size(); ++at) {
            const auto& column = columns_.at(at);
            out << padded(row[at], column) << (at + 1 < row.size() ? "  " : "\n");
        }
    }

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace table

static std::vector<std::string> split(const std::string& line, char by) {
    std::vector<std::string> cells;
    std::string cell;
    std::istringstream in(line);
    while (std::getline(in, cell, by)) {
        cells.push_back(cell);
    }
    return cells;
}

static const char* const kStock[] = {
    "bolt M4;1200;0.04",
    "bolt M5;800;0.05",
    "washer;3000;0.01",
    "bracket; left;75;1.20",
    "bracket, right;70;1.20",
};

static table::Table stock_table() {
    table::Table stock({{"item"}, {"count", table::Align::right}, {"price", table::Align::right}});
    for (const char* line : kStock) {
        stock.add(split(line, ';'));
    }
    return stock;
}

int main() {
    const auto stock = stock_table();
    std::printf("%s", stock.text().c_str());
    return 0;
}
