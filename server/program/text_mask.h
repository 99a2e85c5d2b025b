// What several runs of one program have in common in one text (stdout, a written file), to compare
// another run with.
//
// Numbers that differ between the runs are masked where they are times or differ by more than
// rounding; else the other run may differ by four times their spread. A line that tells a check
// (PASS, error, checksum) is never masked: its numbers have that tolerance, whatever their spread.
// Numbers that are equal in all runs must be equal, floating-point ones within the tolerance of the
// tasks, and words must be equal. Where the runs print the same lines in different orders, order
// does not count. Where they print different lines, only lines that all runs have must be there,
// whatever their numbers. Thread: values, any.
#pragma once

#include "server/program/line_tokens.h"

#include <cstddef>
#include <optional>
#include <span>

namespace warpwright::program {

/// How far a number may differ that is the same in all runs of the original.
struct NumberTolerance {
  double relative = 1e-5;
  double absolute = 1e-5; ///< of errors and residuals
};

class TextMask {
public:
  /// @param texts of one text in each run; not empty
  TextMask(std::span<const std::string> texts, const NumberTolerance &tolerance);

  /// One sentence on the first difference of another run; nullopt: it agrees.
  std::optional<std::string> difference(const std::string &text) const;

  /// What is not compared, in words; empty: all is.
  std::string left_out() const;

private:
  /// What a token of a line may be.
  struct Slot {
    enum class Kind { Equal, Range, Any };
    Kind kind = Kind::Equal;
    std::string text;         ///< of the first run
    double low = 0, high = 0; ///< of Range
  };
  struct Line {
    std::string text; ///< of the first run
    std::vector<Slot> slots;
    bool is_free = false; ///< the runs differ in words: only checks in it are compared
  };
  enum class Form { Lines, Unordered, Common, Bytes, Nothing };

  Line learn(const std::vector<const std::vector<Token> *> &runs, const std::string &text);
  Slot slot_of(const std::vector<const Token *> &runs, bool is_check, bool is_error, bool is_time) const;
  void learn_common(std::span<const std::string> texts);
  std::optional<std::string> line_difference(const Line &line, const std::string &other) const;

  NumberTolerance tolerance_;
  Form form_ = Form::Lines;
  std::string bytes_;               ///< of Bytes
  std::vector<Line> lines_;         ///< of Lines and Unordered
  std::vector<std::string> common_; ///< of Common: skeletons, sorted, as often as all runs have them
  std::size_t masked_ = 0, free_ = 0;
};

} // namespace warpwright::program
