// Integer expressions over named sizes: "(n + 255) / 256", "min(rows, 1024) * 4".
//
// Tasks and plans hold launch shapes, buffer extents and integer arguments as such texts, so that one plan
// serves all sizes. Semantics are C's on 64-bit integers; division truncates toward zero. The operators are
// + - * / % << >> & | ^ ~ ! < <= > >= == != && || ?: and the calls min, max, ceil_div, round_up. Names may
// contain dots: threadIdx.x.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace warpwright::symbolic {

/// Symbol name -> value, e.g. {"n": 1048576}.
using Sizes = std::map<std::string, std::int64_t>;
/// Text of the sizes: "n=1024, rows=3".
std::string describe_sizes(const Sizes &sizes);

class Expression {
public:
  /// The constant 0.
  Expression();
  /// A constant. Implicit, because most extents in code are constants.
  Expression(std::int64_t value);

  /// Errors: a text that is no expression; the message has the column of the wrong character.
  static Result<Expression> parse(const std::string &text);

  /// The value at these sizes. Errors: a symbol without a size, division by zero, overflow of 64 bits.
  Result<std::int64_t> evaluate(const Sizes &sizes) const;

  /// The text that was parsed; parse(text()) returns an equal expression.
  const std::string &text() const { return text_; }
  const std::set<std::string> &symbols() const { return symbols_; }
  bool is_constant() const { return symbols_.empty(); }

  friend bool operator==(const Expression &a, const Expression &b) { return a.text_ == b.text_; }

  struct Node {
    enum class Kind { Constant, Symbol, Operator } kind = Kind::Constant;
    std::int64_t value = 0;
    std::string name; ///< the symbol, the operator ("neg" for unary minus, "?") or the call
    std::vector<std::shared_ptr<const Node>> children;
  };
  const Node &root() const { return *root_; }

private:
  std::string text_;
  std::set<std::string> symbols_;
  std::shared_ptr<const Node> root_;
};

} // namespace warpwright::symbolic
