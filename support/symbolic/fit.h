// One text for several sizes: texts that differ only in integers, with an expression over the sizes for each of them.
//
// A generator that writes numbers into its text is run at several sizes, and the expressions are found from the numbers.
// That is a guess from samples, so callers compare it with the generator's text at other sizes, or run it there.
// Thread: any.
#pragma once

#include "support/symbolic/expression.h"

#include <functional>
#include <optional>

namespace warpwright::symbolic {

struct FittedText {
  std::vector<std::string> parts; ///< the text around the values: values.size() + 1
  std::vector<Expression> values;

  /// The text at these sizes. Errors: a symbol without a size; overflow.
  Result<std::string> at(const Sizes &sizes) const;
  /// The text with `write(i)` in place of value i.
  std::string with(const std::function<std::string(std::size_t)> &write) const;
};

/// Forms that are found, for a product p of up to three symbols or 1, and tile counts t = ceil_div(q, k), where q is such
/// a product times a number that occurs in the texts: c * p + d, c * p * t + d, c * p * t * t and min(m, c * p * t).
/// Suffixes of literals (LL, u) belong to the text.
/// @param texts one for each of `sizes`, which name the same symbols; at least four
/// Errors: texts that differ in more than integers; an integer that no form fits.
Result<FittedText> fit_integers(const std::vector<std::string> &texts, const std::vector<Sizes> &sizes);

} // namespace warpwright::symbolic
