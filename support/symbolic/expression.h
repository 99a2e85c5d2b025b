// Integer expressions over named sizes: "(n + 255) / 256", "min(rows, 1024) * 4".
//
// Launch shapes, buffer extents and integer arguments travel as such texts in tasks and plans, so that one
// plan serves every size binding. C semantics on 64-bit integers, division truncating toward zero; operators
// + - * / % << >> & | ^ ~ ! < <= > >= == != && || ?: and the calls min, max, ceil_div, round_up. Names may hold
// points: threadIdx.x.
// Thread: values, any.
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
/// "n=1024, rows=3"
std::string describe_sizes(const Sizes &sizes);

class Expression {
public:
  /// The constant 0.
  Expression();
  /// Implicit, because most extents in code are constants.
  Expression(std::int64_t value);

  /// Errors: a text that is no expression, with the column of the offending character.
  static Result<Expression> parse(const std::string &text);

  /// Errors: an unbound symbol (named), division by zero, overflow of 64 bits.
  Result<std::int64_t> evaluate(const Sizes &sizes) const;

  /// As written when parsed; parse(text()) gives the same expression back.
  const std::string &text() const { return text_; }
  const std::set<std::string> &symbols() const { return symbols_; }
  bool is_constant() const { return symbols_.empty(); }

  friend bool operator==(const Expression &a, const Expression &b) { return a.text_ == b.text_; }

  struct Node {
    enum class Kind { Constant, Symbol, Operator } kind = Kind::Constant;
    std::int64_t value = 0;
    std::string name; ///< of the symbol, the operator ("neg" of one operand, "?") or the call
    std::vector<std::shared_ptr<const Node>> children;
  };
  const Node &root() const { return *root_; }

private:
  std::string text_;
  std::set<std::string> symbols_;
  std::shared_ptr<const Node> root_;
};

} // namespace warpwright::symbolic
