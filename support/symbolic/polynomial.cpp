// Polynomials as sorted maps from products of symbols to coefficients; see polynomial.h.
//
// Sums and products go term by term: real indices have few terms, and the analysis refuses to multiply large
// polynomials. Coefficients use unsigned arithmetic, so that overflow wraps and is not undefined behavior. Rules
// that compare every access with every other spend their time here, so each operation is a checkpoint.
#include "support/symbolic/polynomial.h"

#include "support/budget.h"

#include <algorithm>

namespace warpwright::symbolic {
namespace {

std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::string term_text(const Monomial &monomial, std::int64_t coefficient) {
  if (monomial.empty())
    return std::to_string(coefficient);
  if (coefficient == 1)
    return to_string(monomial);
  return std::to_string(coefficient) + "*" + to_string(monomial);
}

} // namespace

std::string to_string(const Monomial &monomial) {
  if (monomial.empty())
    return "1";
  std::string text = monomial.front();
  for (std::size_t i = 1; i < monomial.size(); ++i)
    text += "*" + monomial[i];
  return text;
}

Polynomial::Polynomial(std::int64_t constant) { add({}, constant); }

Polynomial Polynomial::symbol(const std::string &name) {
  Polynomial result;
  result.add({name}, 1);
  return result;
}

void Polynomial::add(const Monomial &monomial, std::int64_t coefficient) {
  auto [place, inserted] = terms_.try_emplace(monomial, 0);
  place->second = wrapped_sum(place->second, coefficient);
  if (place->second == 0)
    terms_.erase(place);
}

std::optional<std::int64_t> Polynomial::number() const {
  if (terms_.empty())
    return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty())
    return terms_.begin()->second;
  return std::nullopt;
}

std::int64_t Polynomial::constant_term() const {
  const auto found = terms_.find({});
  return found == terms_.end() ? 0 : found->second;
}

std::set<std::string> Polynomial::symbols() const {
  std::set<std::string> names;
  for (const auto &[monomial, coefficient] : terms_)
    names.insert(monomial.begin(), monomial.end());
  return names;
}

bool Polynomial::mentions(const std::string &symbol) const {
  return std::ranges::any_of(
      terms_, [&](const auto &term) { return std::ranges::count(term.first, symbol) != 0; });
}

Polynomial Polynomial::coefficient_of(const std::string &symbol) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms_) {
    if (std::ranges::count(monomial, symbol) != 1)
      continue;
    Monomial rest = monomial;
    rest.erase(std::ranges::find(rest, symbol));
    result.add(rest, coefficient);
  }
  return result;
}

Polynomial Polynomial::without(const std::string &symbol) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms_)
    if (std::ranges::count(monomial, symbol) == 0)
      result.add(monomial, coefficient);
  return result;
}

Polynomial Polynomial::substitute(const std::string &symbol, const Polynomial &value) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms_) {
    Polynomial product(coefficient);
    for (const std::string &factor : monomial)
      product = product * (factor == symbol ? value : Polynomial::symbol(factor));
    result = result + product;
  }
  return result;
}

std::optional<Polynomial> Polynomial::divided_by(std::int64_t divisor) const {
  if (divisor == 0 || divisor == -1)
    return std::nullopt;
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms_) {
    if (coefficient % divisor != 0)
      return std::nullopt;
    result.add(monomial, coefficient / divisor);
  }
  return result;
}

std::string Polynomial::text() const {
  std::string text;
  for (const auto &[monomial, coefficient] : terms_)
    if (!monomial.empty())
      text += (text.empty() ? "" : " + ") + term_text(monomial, coefficient);
  if (constant_term() != 0 || text.empty())
    text += (text.empty() ? "" : " + ") + std::to_string(constant_term());
  return text;
}

Polynomial operator+(const Polynomial &a, const Polynomial &b) {
  checkpoint();
  Polynomial result = a;
  for (const auto &[monomial, coefficient] : b.terms_)
    result.add(monomial, coefficient);
  return result;
}

Polynomial operator-(const Polynomial &a, const Polynomial &b) {
  checkpoint();
  Polynomial result = a;
  for (const auto &[monomial, coefficient] : b.terms_)
    result.add(monomial, wrapped_product(coefficient, -1));
  return result;
}

Polynomial operator*(const Polynomial &a, const Polynomial &b) {
  checkpoint();
  Polynomial result;
  for (const auto &[left, left_coefficient] : a.terms_) {
    for (const auto &[right, right_coefficient] : b.terms_) {
      Monomial product = left;
      product.insert(product.end(), right.begin(), right.end());
      std::ranges::sort(product);
      result.add(product, wrapped_product(left_coefficient, right_coefficient));
    }
  }
  return result;
}

} // namespace warpwright::symbolic
