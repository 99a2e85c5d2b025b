// Integer polynomials over named symbols: the arithmetic under the affine index analysis.
//
// Indices are mostly affine in threadIdx, but products of unknowns (row * N) are everywhere, so terms are products
// of symbols with a number in front, and "affine" is a question asked afterwards. Arithmetic wraps at 64 bits, as
// the numbers only ever come from source text and nothing trusts them with memory. Thread: values, any.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::symbolic {

/// A product of symbols, sorted by name, repeated for powers; empty is the number one.
using Monomial = std::vector<std::string>;

/// Joined by "*": "N*threadIdx.y"; "1" for the empty product.
std::string to_string(const Monomial &monomial);

class Polynomial {
public:
  Polynomial() = default;
  Polynomial(std::int64_t constant);
  static Polynomial symbol(const std::string &name);

  /// Without zero coefficients.
  const std::map<Monomial, std::int64_t> &terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  /// Its value when it is a number.
  std::optional<std::int64_t> number() const;
  /// The term without symbols.
  std::int64_t constant_term() const;
  std::set<std::string> symbols() const;
  bool mentions(const std::string &symbol) const;
  /// What `symbol` is multiplied by, over the terms that hold it exactly once.
  Polynomial coefficient_of(const std::string &symbol) const;
  /// The terms without `symbol`.
  Polynomial without(const std::string &symbol) const;
  /// Each `symbol` replaced by `value`.
  Polynomial substitute(const std::string &symbol, const Polynomial &value) const;
  /// Exact division of every coefficient; nullopt when one is not a multiple.
  std::optional<Polynomial> divided_by(std::int64_t divisor) const;
  /// "4*threadIdx.x + N*row + 1", constant last; "0" when empty.
  std::string text() const;

  friend Polynomial operator+(const Polynomial &a, const Polynomial &b);
  friend Polynomial operator-(const Polynomial &a, const Polynomial &b);
  friend Polynomial operator*(const Polynomial &a, const Polynomial &b);
  friend bool operator==(const Polynomial &, const Polynomial &) = default;
  friend auto operator<=>(const Polynomial &, const Polynomial &) = default;

private:
  void add(const Monomial &monomial, std::int64_t coefficient);
  std::map<Monomial, std::int64_t> terms_;
};

} // namespace warpwright::symbolic
