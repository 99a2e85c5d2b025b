// Byte ranges, edits and line positions of a source text.
//
// Inside the project a position is a byte offset into UTF-8; only server/protocol knows LSP's UTF-16 columns.
// Thread: values, any.
#pragma once

#include "support/error.h"

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright {

/// Half-open [begin, end) in bytes.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool contains(std::size_t offset) const { return begin <= offset && offset < end; }
  bool overlaps(const Range &other) const { return begin < other.end && other.begin < end; }
  std::size_t size() const { return end - begin; }
  auto operator<=>(const Range &) const = default;
};

/// Replace `range` of the text by `replacement`.
struct TextEdit {
  Range range;
  std::string replacement;
  bool operator==(const TextEdit &) const = default;
};

/// Applies edits given against the same original text, in any order; insertions at one offset keep
/// their order.
/// Errors: overlapping edits, a range outside the text. The text is then unchanged.
Result<std::string> apply_edits(std::string_view text, std::vector<TextEdit> edits);

/// Smallest line-wise edits that turn `before` into `after`.
std::vector<TextEdit> diff_edits(std::string_view before, std::string_view after);

/// Unified diff with three lines of context; empty when equal.
std::string unified_diff(std::string_view before, std::string_view after,
                         const std::string &before_name, const std::string &after_name);

/// Line starts of a text; lines count from 0, columns in bytes from 0.
class LineIndex {
public:
  explicit LineIndex(std::string_view text);
  std::size_t line_of(std::size_t offset) const;
  std::size_t line_start(std::size_t line) const;
  std::size_t column_of(std::size_t offset) const { return offset - line_start(line_of(offset)); }
  std::size_t line_count() const { return starts_.size(); }

private:
  std::vector<std::size_t> starts_;
};

/// The white space at the start of the line that holds `offset`.
std::string indentation_at(std::string_view text, std::size_t offset);

/// True for the characters of identifiers: letters, digits and underscores.
bool is_word(char c);

/// Whether `text` contains `name` as a whole identifier.
bool mentions(std::string_view text, std::string_view name);

/// A finite double that reads back as the same value, with a point or an exponent: "0.25", "3.0", "1e-05".
std::string exact_number(double value);

} // namespace warpwright
