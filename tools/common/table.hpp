// Table: rows of cells as aligned text.
//
//     Table table({{"kernel"}, {"VGPRs", Align::right}, {"occupancy"}});
//     table.add({"saxpy", "8", "8 of 8 waves a SIMD"});
//     text += table.text();                     // two blanks before every cell; the last column is not padded
//
// If a table exceeds the column limit, long cells of its first column are on separate lines, and the last column is
// wrapped. Widths are counted in UTF-8 characters. Thread safety: a plain value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tools {

enum class Align { left, right };

struct Column {
    std::string head;
    Align align = Align::left;
};

class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// One cell per column.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }

    /// The table with its heads, if any, each line indented by `indent`. `most_columns` 0: no limit.
    std::string text(std::size_t indent = 2, std::size_t most_columns = 0) const;

  private:
    using Row = std::vector<std::string>;
    std::vector<std::size_t> widths(const std::vector<Row>& rows) const;
    std::string line(const Row& row, const std::vector<std::size_t>& widths, std::size_t indent,
                     std::size_t most_columns) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

/// A table without heads; all rows have the same number of cells. The columns in `right` are right-aligned.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t indent,
                    const std::vector<std::size_t>& right = {});

/// The number of UTF-8 characters (combining and wide ones count as one).
std::size_t width_of(std::string_view text);

/// Wraps `text` into lines of at most `most_columns`. The first line starts with `first`, the others with as many
/// blanks; each ends with a line end. A longer word is on its own line.
std::string wrapped(const std::string& first, std::string_view text, std::size_t most_columns);

}  // namespace tools
