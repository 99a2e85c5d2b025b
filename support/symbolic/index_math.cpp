#include "support/symbolic/index_math.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <optional>
#include <set>

namespace warpwright::symbolic {
namespace {

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

void add_term(IndexForm &form, int atom, std::int64_t coefficient) {
  if ((form.terms[atom] += coefficient) == 0)
    form.terms.erase(atom);
}

std::string key_of(const IndexForm &form) {
  std::string key;
  for (const auto &[atom, coefficient] : form.terms)
    key += std::to_string(coefficient) + "*" + std::to_string(atom) + "+";
  return key + std::to_string(form.constant);
}

bool is_word(const std::string &text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

} // namespace

IndexForm IndexMath::opaque(const IndexForm &a, const std::string &operation, const IndexForm &b) {
  return atom("(" + text(a) + " " + operation + " " + text(b) + ")", {0, Interval::kInfinity});
}

std::optional<IndexForm> IndexMath::form_of(const Expression::Node &node) {
  using Kind = Expression::Node::Kind;
  if (node.kind == Kind::Constant)
    return constant(node.value);
  if (node.kind == Kind::Symbol)
    return atom(node.name, {0, Interval::kInfinity});
  const auto a = form_of(*node.children[0]);
  if (a && node.name == "neg")
    return scale(*a, -1);
  if (!a || !std::set<std::string>{"+", "-", "*", "/", "%"}.contains(node.name))
    return std::nullopt;
  const auto b = form_of(*node.children[1]);
  if (!b)
    return std::nullopt;
  if (node.name == "+" || node.name == "-")
    return add(*a, node.name == "-" ? scale(*b, -1) : *b);
  if (node.name == "*" && (a->is_constant() || b->is_constant()))
    return b->is_constant() ? scale(*a, b->constant) : scale(*b, a->constant);
  if (node.name != "*" && b->is_constant() && b->constant > 0)
    return node.name == "/" ? divide(*a, b->constant) : modulo(*a, b->constant);
  return opaque(*a, node.name, *b);
}

int IndexMath::intern(const std::string &key, Atom atom) {
  const auto [found, added] = numbers_.try_emplace(key, static_cast<int>(atoms_.size()));
  if (added)
    atoms_.push_back(std::move(atom));
  return found->second;
}

IndexForm IndexMath::atom(const std::string &text, Interval range) {
  const int number = intern("t" + text, {Kind::Text, text, {}, 1, range});
  Atom &atom = atoms_[number];
  atom.range = intersect(atom.range, range);
  if (atom.range.is_number())
    return constant(atom.range.low);
  return single(number);
}

IndexForm IndexMath::assume(const IndexForm &form, Interval range) {
  std::int64_t divisor = 0;
  for (const auto &[atom, coefficient] : form.terms)
    divisor = std::gcd(divisor, coefficient);
  if (divisor > 1) { // the terms stay a multiple, which the vectors of neighbors need
    const std::int64_t rest = form.constant - floor_divide(form.constant, divisor) * divisor;
    IndexForm multiple = form;
    for (auto &[atom, coefficient] : multiple.terms)
      coefficient /= divisor;
    multiple.constant = floor_divide(form.constant, divisor);
    const Interval multiples{-floor_divide(rest - range.low, divisor),
                             floor_divide(range.high - rest, divisor)};
    return add(scale(assume(multiple, multiples), divisor), constant(rest));
  }
  const std::string whole = text(form);
  const std::string key =
      "a" + std::to_string(range.low) + ":" + std::to_string(range.high) + whole;
  return single(intern(key, {Kind::Text, whole, {}, 1, range}));
}

void IndexMath::bound(const std::string &text, Interval range) { atom(text, range); }

IndexForm IndexMath::parse(const std::string &text, Interval range) {
  if (range.low == range.high)
    return constant(range.low);
  const auto parsed = Expression::parse(text);
  const auto form = parsed ? form_of(parsed->root()) : std::nullopt;
  if (!form)
    return atom(is_word(text) ? text : "(" + text + ")", range);
  // The caller's range narrows the range of a lone variable, which is the most common index.
  if (const Atom *alone = sole_atom(*form); alone && alone->kind == Kind::Text)
    return atom(alone->text, range);
  // It also narrows the variables of a sum in which all coefficients are positive.
  const Interval known = this->range(*form);
  if (known.low >= 0 &&
      std::ranges::all_of(form->terms, [](const auto &t) { return t.second > 0; }))
    for (const auto &[number, coefficient] : form->terms) {
      Atom &part = atoms_[number];
      const std::int64_t room = range.high - known.low + coefficient * part.range.low;
      if (part.kind == Kind::Text && room >= 0)
        part.range.high = std::min(part.range.high, room / coefficient);
    }
  return *form;
}

IndexForm IndexMath::add(const IndexForm &a, const IndexForm &b) {
  IndexForm form = a;
  form.constant += b.constant;
  for (const auto &[atom, coefficient] : b.terms)
    add_term(form, atom, coefficient);
  recombine(form);
  return form;
}

IndexForm IndexMath::scale(const IndexForm &a, std::int64_t factor) const {
  if (factor == 0)
    return {};
  IndexForm form = a;
  form.constant *= factor;
  for (auto &[atom, coefficient] : form.terms)
    coefficient *= factor;
  return form;
}

Interval IndexMath::range(const IndexForm &form) const {
  Interval whole = Interval::of(form.constant);
  for (const auto &[atom, coefficient] : form.terms)
    whole = whole + Interval::of(coefficient) * atoms_[atom].range;
  return whole;
}

IndexMath::Split IndexMath::split(const IndexForm &form, std::int64_t divisor) const {
  Split result;
  for (const auto &[atom, coefficient] : form.terms)
    (coefficient % divisor == 0 ? result.multiple : result.rest).terms[atom] = coefficient;
  const std::int64_t whole = floor_divide(form.constant, divisor) * divisor;
  result.multiple.constant = whole;
  result.rest.constant = form.constant - whole;
  return result;
}

std::int64_t IndexMath::common_factor(const IndexForm &rest, std::int64_t divisor) const {
  std::set<std::int64_t, std::greater<>> candidates;
  for (const auto &[atom, coefficient] : rest.terms)
    candidates.insert(std::gcd(coefficient, divisor));
  for (const std::int64_t factor : candidates) {
    if (factor <= 1 || factor >= divisor)
      continue;
    const Interval left = range(split(rest, factor).rest);
    if (left.low >= 0 && left.high < factor)
      return factor;
  }
  return 1;
}

const IndexMath::Atom *IndexMath::sole_atom(const IndexForm &form) const {
  if (form.constant != 0 || form.terms.size() != 1 || form.terms.begin()->second != 1)
    return nullptr;
  return &atoms_[form.terms.begin()->first];
}

IndexForm IndexMath::quotient_atom(const IndexForm &operand, std::int64_t divisor) {
  const Interval inside = range(operand);
  const Interval outside{floor_divide(inside.low, divisor), inside.high / divisor};
  return single(intern("q" + key_of(operand) + "/" + std::to_string(divisor),
                       {Kind::Quotient, "", operand, divisor, outside}));
}

IndexForm IndexMath::remainder_atom(const IndexForm &operand, std::int64_t divisor) {
  return single(intern("r" + key_of(operand) + "/" + std::to_string(divisor),
                       {Kind::Remainder, "", operand, divisor, {0, divisor - 1}}));
}

IndexForm IndexMath::divide(const IndexForm &a, std::int64_t divisor) {
  if (divisor == 1)
    return a;
  auto [multiple, rest] = split(a, divisor);
  const Interval left = range(rest);
  if (left.low < 0) // no multiple may be taken out, as C++ division truncates
    return quotient_atom(a, divisor);
  IndexForm quotient = multiple;
  for (auto &[atom, coefficient] : quotient.terms)
    coefficient /= divisor;
  quotient.constant /= divisor;
  if (left.high < divisor)
    return quotient;
  if (const std::int64_t factor = common_factor(rest, divisor); factor > 1) {
    IndexForm coarse = split(rest, factor).multiple;
    for (auto &[atom, coefficient] : coarse.terms)
      coefficient /= factor;
    coarse.constant /= factor;
    return add(quotient, divide(coarse, divisor / factor));
  }
  if (const Atom *alone = sole_atom(rest)) {
    if (alone->kind == Kind::Quotient) {
      const IndexForm operand = alone->operand;
      return add(quotient, divide(operand, alone->divisor * divisor));
    }
    if (alone->kind == Kind::Remainder && alone->divisor % divisor == 0) {
      const IndexForm operand = alone->operand;
      const std::int64_t modulus = alone->divisor / divisor;
      return add(quotient, modulo(divide(operand, divisor), modulus));
    }
  }
  return add(quotient, quotient_atom(rest, divisor));
}

IndexForm IndexMath::modulo(const IndexForm &a, std::int64_t divisor) {
  if (divisor == 1)
    return {};
  const Interval whole = range(a);
  if (whole.low >= 0 && whole.high < divisor)
    return a;
  const IndexForm rest = split(a, divisor).rest;
  const Interval left = range(rest);
  if (left.low < 0)
    return remainder_atom(a, divisor);
  if (left.high < divisor)
    return rest;
  if (const std::int64_t factor = common_factor(rest, divisor); factor > 1) {
    Split parts = split(rest, factor);
    for (auto &[atom, coefficient] : parts.multiple.terms)
      coefficient /= factor;
    parts.multiple.constant /= factor;
    return add(scale(modulo(parts.multiple, divisor / factor), factor), parts.rest);
  }
  if (const Atom *alone = sole_atom(rest);
      alone && alone->kind == Kind::Remainder && alone->divisor % divisor == 0) {
    const IndexForm operand = alone->operand;
    return modulo(operand, divisor);
  }
  return remainder_atom(rest, divisor);
}

void IndexMath::recombine(IndexForm &form) {
  // k * (X % c) + k * c * (X / c) is k * X, and k * (X % c) + k * c * (X / c % d) is k * (X % (c * d)).
  for (bool changed = true; changed;) {
    changed = false;
    const std::map<int, std::int64_t> terms = form.terms;
    for (const auto &[number, coefficient] : terms) {
      if (atoms_[number].kind != Kind::Remainder || terms.size() < 2)
        continue;
      const IndexForm operand = atoms_[number].operand;
      const std::int64_t divisor = atoms_[number].divisor;
      const IndexForm quotient = divide(operand, divisor);
      const auto next = std::ranges::find_if(terms, [&](const auto &term) {
        const Atom &atom = atoms_[term.first];
        return atom.kind == Kind::Remainder && atom.operand == quotient && term.second == coefficient * divisor;
      });
      if (next != terms.end()) {
        const std::int64_t outer = atoms_[next->first].divisor;
        form.terms.erase(number);
        form.terms.erase(next->first);
        form = add(form, scale(modulo(operand, divisor * outer), coefficient));
        changed = true;
        break;
      }
      const bool present =
          !quotient.terms.empty() && std::ranges::all_of(quotient.terms, [&](const auto &term) {
            const auto found = terms.find(term.first);
            return found != terms.end() && found->second == coefficient * divisor * term.second;
          });
      if (!present)
        continue;
      for (const auto &[atom, factor] : quotient.terms)
        form.terms.erase(atom);
      form.terms.erase(number);
      form.constant += coefficient * (operand.constant - divisor * quotient.constant);
      for (const auto &[atom, factor] : operand.terms)
        add_term(form, atom, coefficient * factor);
      changed = true;
      break;
    }
  }
}

std::string IndexMath::atom_text(const Atom &atom, bool wide) const {
  switch (atom.kind) {
  case Kind::Text:
    return wide ? "(long long)" + atom.text : atom.text;
  case Kind::Quotient:
    return "(" + text(atom.operand, wide) + " / " + std::to_string(atom.divisor) + ")";
  case Kind::Remainder:
    return "(" + text(atom.operand, wide) + " % " + std::to_string(atom.divisor) + ")";
  }
  return {};
}

std::string IndexMath::text(const IndexForm &form, bool wide) const {
  std::string sum;
  int parts = 0;
  for (const auto &[number, coefficient] : form.terms) {
    const std::int64_t size = coefficient < 0 ? -coefficient : coefficient;
    sum += coefficient < 0 ? (sum.empty() ? "-" : " - ") : (sum.empty() ? "" : " + ");
    sum += atom_text(atoms_[number], wide);
    if (size != 1)
      sum += " * " + std::to_string(size) + (wide ? "LL" : "");
    parts += size != 1 || coefficient < 0 ? 2 : 1;
  }
  if (form.constant != 0 || sum.empty()) {
    const std::string size =
        std::to_string(form.constant < 0 ? -form.constant : form.constant) + (wide ? "LL" : "");
    sum += form.constant < 0 ? (sum.empty() ? "-" : " - ") : (sum.empty() ? "" : " + ");
    sum += size;
    parts += form.constant < 0 || !form.terms.empty() ? 2 : 1;
  }
  return parts > 1 ? "(" + sum + ")" : sum;
}

} // namespace warpwright::symbolic
