// Integer polynomials over named symbols: the arithmetic under the affine index analysis.
//
// Most indices are affine in threadIdx but contain products of unknowns (row * N). So a term is a product of symbols
// with a coefficient, and users test separately for affine forms. Arithmetic wraps at 64 bits: the numbers come from
// source text, and no memory access depends on them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace warpwright::symbolic {

/// A product of symbols, sorted by name, with repeats for powers; the empty product is 1.
using Monomial = std::vector<std::string>;

/// The symbols joined by "*": "N*threadIdx.y"; "1" for the empty product.
std::string to_string(const Monomial &monomial);

class Polynomial {
public:
  Polynomial() = default;
  Polynomial(std::int64_t constant);
  static Polynomial symbol(const std::string &name);

  /// The terms; no coefficient is zero.
  const std::map<Monomial, std::int64_t> &terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  /// The value of a constant polynomial; nullopt for others.
  std::optional<std::int64_t> number() const;
  /// Coefficient of the term without symbols.
  std::int64_t constant_term() const;
  std::set<std::string> symbols() const;
  bool mentions(const std::string &symbol) const;
  /// Factor of `symbol`, from the terms that contain it exactly once.
  Polynomial coefficient_of(const std::string &symbol) const;
  /// The terms that do not contain `symbol`.
  Polynomial without(const std::string &symbol) const;
  /// The polynomial with `symbol` replaced by `value`.
  Polynomial substitute(const std::string &symbol, const Polynomial &value) const;
  /// The exact quotient; nullopt when a coefficient is not a multiple of `divisor`.
  std::optional<Polynomial> divided_by(std::int64_t divisor) const;
  /// Text with the constant last: "4*threadIdx.x + N*row + 1"; "0" when there are no terms.
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
