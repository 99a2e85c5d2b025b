// Index arithmetic on sums of coefficient * atom + constant, with ranges, that simplifies quotients and remainders.
//
// An atom is a C++ text, or a quotient or remainder of a form by a constant. A reshape writes an index as quotients and
// remainders of a flat index, most of which cancel: (i / 64) * 64 + i % 64 is i, and (4 * i + 1) / 64 is i / 16. The
// ranges of atoms decide which terms cancel. Only divisions by constants remain. Quotients round down; their C++ texts
// assume operands that are not negative, as parts of indices are. A product of two variables is not analyzed: it
// becomes one atom by its text.
#pragma once

#include "support/symbolic/expression.h"
#include "support/symbolic/interval.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace warpwright::symbolic {

/// A sum of terms (coefficient by atom) and a constant.
struct IndexForm {
  std::map<int, std::int64_t> terms; ///< no zero coefficients
  std::int64_t constant = 0;
  bool is_constant() const { return terms.empty(); }
  bool operator==(const IndexForm &) const = default;
};

class IndexMath {
public:
  static IndexForm constant(std::int64_t value) { return {{}, value}; }
  /// An atom with this text: a variable, or an expression that the rules do not analyze.
  IndexForm atom(const std::string &text, Interval range);
  /// The form with a range that its parts do not imply, because a guard comes before its use.
  IndexForm assume(const IndexForm &form, Interval range);
  /// The form of a C++ integer expression whose value lies in `range`: + - * / % of variables, literals and
  /// parentheses. Unknown variables count as 0 or more. Any other text becomes an atom.
  IndexForm parse(const std::string &text, Interval range);

  IndexForm add(const IndexForm &a, const IndexForm &b);
  IndexForm scale(const IndexForm &a, std::int64_t factor) const;
  /// The quotient, rounded down. @param divisor 1 or more
  IndexForm divide(const IndexForm &a, std::int64_t divisor);
  IndexForm modulo(const IndexForm &a, std::int64_t divisor);

  Interval range(const IndexForm &form) const;
  /// Narrows the range of a variable.
  void bound(const std::string &text, Interval range);
  /// C++ text that needs no parentheses in a larger expression. @param wide whether to compute in 64 bits
  std::string text(const IndexForm &form, bool wide = false) const;

private:
  enum class Kind { Text, Quotient, Remainder };
  struct Atom {
    Kind kind;
    std::string text; ///< for Kind::Text
    IndexForm operand;
    std::int64_t divisor = 1;
    Interval range;
  };
  /// The form of a parsed expression; nullopt when it has other operators than + - * / %.
  std::optional<IndexForm> form_of(const Expression::Node &node);
  IndexForm opaque(const IndexForm &a, const std::string &operation, const IndexForm &b);
  IndexForm single(int atom) const { return {{{atom, 1}}, 0}; }
  int intern(const std::string &key, Atom atom);
  IndexForm quotient_atom(const IndexForm &operand, std::int64_t divisor);
  IndexForm remainder_atom(const IndexForm &operand, std::int64_t divisor);
  /// The part of a form that is divisible by `divisor`, and the rest, not negative where the ranges show that.
  struct Split {
    IndexForm multiple, rest;
  };
  Split split(const IndexForm &form, std::int64_t divisor) const;
  /// A factor of `divisor` that divides all of `rest` but a remainder smaller than the factor; 1 when there is none.
  std::int64_t common_factor(const IndexForm &rest, std::int64_t divisor) const;
  const Atom *sole_atom(const IndexForm &form) const;
  void recombine(IndexForm &form);
  std::string atom_text(const Atom &atom, bool wide) const;

  std::vector<Atom> atoms_;
  std::unordered_map<std::string, int> numbers_;
};

} // namespace warpwright::symbolic
