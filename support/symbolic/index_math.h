// Index arithmetic: sums of multiples of atoms, with ranges, that simplify where dimensions line up.
//
// A reshape writes an index as quotients and remainders of a flat one. Most of these cancel against the loops around them:
// (i / 64) * 64 + i % 64 is i, and (4 * i + 1) / 64 is i / 16. What stays is division by a constant. A form is a sum of
// coefficient * atom + constant; an atom is a piece of C++ text, a quotient or a remainder of a form by a constant. Atoms have ranges,
// which decide what cancels. Quotients round down; texts of quotients assume operands that are not negative, as index parts are. Leaves
// out products of two variables: they are atoms by their text. Thread: one.
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

/// A sum: terms by atom, and a constant.
struct IndexForm {
  std::map<int, std::int64_t> terms; ///< no zero coefficients
  std::int64_t constant = 0;
  bool is_constant() const { return terms.empty(); }
  bool operator==(const IndexForm &) const = default;
};

class IndexMath {
public:
  static IndexForm constant(std::int64_t value) { return {{}, value}; }
  /// A text that is taken as it stands: a variable, or something that no rule sees through.
  IndexForm atom(const std::string &text, Interval range);
  /// The form, known to lie in `range` where it is used, which does not follow from its parts (a guard stands before it).
  IndexForm assume(const IndexForm &form, Interval range);
  /// An integer expression in C++ as people write indices: + - * / % of variables, literals and parentheses. Variables that
  /// are not known yet are 0 or more. The whole lies in `range`.
  IndexForm parse(const std::string &text, Interval range);

  IndexForm add(const IndexForm &a, const IndexForm &b);
  IndexForm scale(const IndexForm &a, std::int64_t factor) const;
  /// Rounded down. @param divisor 1 or more
  IndexForm divide(const IndexForm &a, std::int64_t divisor);
  IndexForm modulo(const IndexForm &a, std::int64_t divisor);

  Interval range(const IndexForm &form) const;
  /// Narrows what is known of a variable.
  void bound(const std::string &text, Interval range);
  /// C++ text that binds as tightly as a primary expression. @param wide computes in 64 bits
  std::string text(const IndexForm &form, bool wide = false) const;

private:
  enum class Kind { Text, Quotient, Remainder };
  struct Atom {
    Kind kind;
    std::string text; ///< of Text
    IndexForm operand;
    std::int64_t divisor = 1;
    Interval range;
  };
  /// nullopt: it holds more than + - * / %.
  std::optional<IndexForm> form_of(const Expression::Node &node);
  IndexForm opaque(const IndexForm &a, const std::string &operation, const IndexForm &b);
  IndexForm single(int atom) const { return {{{atom, 1}}, 0}; }
  int intern(const std::string &key, Atom atom);
  IndexForm quotient_atom(const IndexForm &operand, std::int64_t divisor);
  IndexForm remainder_atom(const IndexForm &operand, std::int64_t divisor);
  /// The part of a form that `divisor` divides, and the rest, not negative where that can be seen.
  struct Split {
    IndexForm multiple, rest;
  };
  Split split(const IndexForm &form, std::int64_t divisor) const;
  /// A factor of `divisor` by which most of `rest` is divisible, what remains staying below it; 1 when there is none.
  std::int64_t common_factor(const IndexForm &rest, std::int64_t divisor) const;
  const Atom *sole_atom(const IndexForm &form) const;
  void recombine(IndexForm &form);
  std::string atom_text(const Atom &atom, bool wide) const;

  std::vector<Atom> atoms_;
  std::unordered_map<std::string, int> numbers_;
};

} // namespace warpwright::symbolic
