// Table: rows of cells as aligned text.
//
//     Table table({{"kernel"}, {"VGPRs", Align::right}, {"occupancy"}});
//     table.add({"saxpy", "8", "8 of 8 waves a SIMD"});
//     text += table.text();                     // two blanks in front of every cell; the last column is not padded
//
// With a limit of columns, a table that would be wider has the cells of its first column that are long on lines of
// their own, and the words of the last column on several lines. Widths are counted in UTF-8 characters. Thread safety:
// a plain value.
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

    /// As many cells as there are columns.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    bool empty() const { return rows_.empty(); }

    /// With the heads, if there are any, each line indented by `indent`. `most_columns`: 0: as wide as it is.
    std::string text(std::size_t indent = 2, std::size_t most_columns = 0) const;

  private:
    using Row = std::vector<std::string>;
    std::vector<std::size_t> widths(const std::vector<Row>& rows) const;
    std::string line(const Row& row, const std::vector<std::size_t>& widths, std::size_t indent,
                     std::size_t most_columns) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

/// A table without heads: rows of as many cells each; the columns of `right` are set to the right.
std::string aligned(const std::vector<std::vector<std::string>>& rows, std::size_t indent,
                    const std::vector<std::size_t>& right = {});

/// How many characters a terminal shows of UTF-8 text (combining ones and wide ones count as one).
std::size_t width_of(std::string_view text);

/// The words of `text` in lines of `most_columns` at most, the first one behind `first`, the others behind as many
/// blanks. Each ends with a line end. A longer word has a line of its own.
std::string wrapped(const std::string& first, std::string_view text, std::size_t most_columns);

}  // namespace tools
