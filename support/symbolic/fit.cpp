#include "support/symbolic/fit.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>
#include <tuple>

namespace warpwright::symbolic {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::size_t kFewestSamples = 4;
constexpr std::int64_t kLargestDivisor = 1 << 20;
constexpr int kMostFactors = 3;

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

/// End of the token at `start`: a name, a number without its suffix, or one character.
std::size_t token_end(const std::string &text, std::size_t start) {
  std::size_t end = start + 1;
  if (is_digit(text[start])) {
    while (end < text.size() && is_digit(text[end]))
      ++end;
    const bool is_decimal_fraction = end < text.size() && (text[end] == '.' || text[end] == 'e' || text[end] == 'x');
    if (!is_decimal_fraction)
      return end;
  }
  if (is_name(text[start]))
    while (end < text.size() && (is_name(text[end]) || (is_digit(text[start]) && text[end] == '.')))
      ++end;
  return end;
}

std::optional<std::int64_t> integer(const std::string &text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// The integers of a form at the samples.
struct Form {
  std::string text;
  Values values;
};

/// Expressions for numbers at the samples. What was found serves as a part of later ones.
class Fitter {
public:
  explicit Fitter(const std::vector<Sizes> &sizes) : sizes_(sizes) {
    std::vector<std::string> names;
    for (const auto &[name, value] : sizes.front())
      names.push_back(name);
    add_products({"", Values(sizes.size(), 1)}, names, 0, kMostFactors);
    std::ranges::stable_sort(products_, {}, [](const Form &form) { return std::ranges::count(form.text, '*'); });
  }

  /// @return an expression for each of the values; nullopt where none was found
  std::vector<std::optional<Expression>> fit(const std::vector<Values> &all) {
    for (const Values &values : all)
      for (const Form &product : products_)
        if (const auto factor = ratio(values, product.values))
          scaled_.insert_or_assign(times(*factor, product.text), times(*factor, product.values));
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (const Values &values : all)
        if (!known_.contains(values))
          if (const auto found = find(values)) {
            known_.emplace(values, *found);
            is_new = true;
          }
    }
    std::vector<std::optional<Expression>> result;
    for (const Values &values : all) {
      const auto found = known_.find(values);
      result.push_back(found == known_.end() ? std::nullopt : std::optional(found->second));
    }
    return result;
  }

private:
  static std::string times(std::int64_t factor, const std::string &text) {
    return factor == 1 ? text : std::to_string(factor) + " * " + text;
  }
  static Values times(std::int64_t factor, Values values) {
    for (std::int64_t &value : values)
      value *= factor;
    return values;
  }

  void add_products(const Form &form, const std::vector<std::string> &names, std::size_t first, int left) {
    if (!form.text.empty())
      products_.push_back(form);
    for (std::size_t i = first; left > 0 && i < names.size(); ++i) {
      Form longer{form.text + (form.text.empty() ? "" : " * ") + names[i], form.values};
      for (std::size_t k = 0; k < sizes_.size(); ++k)
        longer.values[k] *= sizes_[k].at(names[i]);
      add_products(longer, names, i, left - 1);
    }
  }

  std::optional<Expression> find(const Values &values) {
    auto text = linear(values, products_);
    if (!text)
      text = linear(values, quotients_);
    if (!text)
      text = divided(values, {"", Values(values.size(), 1)});
    for (std::size_t i = 0; !text && i < products_.size(); ++i)
      text = divided(values, products_[i]);
    if (!text)
      text = linear(values, products_of_quotients());
    for (std::size_t i = 0; !text && i < products_.size(); ++i)
      text = product_of_linear(values, products_[i]);
    if (!text)
      text = capped(values);
    if (!text)
      text = sum(values);
    auto expression = text ? Expression::parse(*text) : Result<Expression>(fail("no form"));
    return expression ? std::optional(*expression) : std::nullopt;
  }

  /// The factor c with values == c * product.
  static std::optional<std::int64_t> ratio(const Values &values, const Values &product) {
    const std::int64_t factor = values.front() / product.front();
    return factor > 0 && times(factor, product) == values ? std::optional(factor) : std::nullopt;
  }

  static std::optional<std::string> linear(const Values &values, const std::vector<Form> &forms) {
    for (const Form &form : forms)
      if (const auto factor = ratio(values, form.values))
        return times(*factor, form.text);
    for (const Form &form : forms) {
      const Values &p = form.values;
      const auto other = std::ranges::find_if(p, [&](std::int64_t value) { return value != p.front(); });
      if (other == p.end())
        continue;
      const std::int64_t run = *other - p.front(), rise = values[static_cast<std::size_t>(other - p.begin())] - values.front();
      if (rise % run != 0 || rise / run <= 0)
        continue;
      const std::int64_t factor = rise / run, rest = values.front() - factor * p.front();
      bool fits = true;
      for (std::size_t k = 0; k < p.size(); ++k)
        fits &= values[k] == factor * p[k] + rest;
      if (fits)
        return times(factor, form.text) + (rest < 0 ? " - " : " + ") + std::to_string(std::abs(rest));
    }
    return std::nullopt;
  }

  /// A divisor k with values == ceil(product / k), and how plausible it is as a tile: 0 is a power of two.
  struct Divisor {
    std::int64_t value = 0;
    int rank = 0;
  };
  static std::optional<Divisor> divisor(const Values &values, const Values &product) {
    std::int64_t least = 2, most = kLargestDivisor;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t value = values[i], over = product[i];
      if (value < 1 || over < value)
        return std::nullopt;
      least = std::max(least, (over + value - 1) / value);
      if (value > 1)
        most = std::min(most, (over + value - 2) / (value - 1) - 1);
    }
    if (least > most)
      return std::nullopt;
    for (std::int64_t power = 2; power <= most; power *= 2)
      if (power >= least)
        return Divisor{power, 0};
    int rank = 0;
    for (const std::int64_t step : {64, 32, 16, 8}) {
      ++rank;
      if (const std::int64_t multiple = (least + step - 1) / step * step; multiple <= most)
        return Divisor{multiple, rank};
    }
    return least == most ? std::optional(Divisor{least, rank + 1}) : std::nullopt;
  }

  static Form product(const Form &a, const Form &b) {
    Form both{a.text + " * " + b.text, a.values};
    for (std::size_t k = 0; k < both.values.size(); ++k)
      both.values[k] *= b.values[k];
    return both;
  }

  /// Numbers of tiles in two directions, alone and times a number of matrices.
  std::vector<Form> products_of_quotients() const {
    std::vector<Form> forms;
    for (const Form &a : quotients_)
      for (const Form &b : quotients_) {
        forms.push_back(product(a, b));
        for (const Form &p : products_)
          forms.push_back(product(p, forms[forms.size() - 1]));
      }
    return forms;
  }

  /// The values divided by those of a form; nullopt: some leave a rest.
  static std::optional<Values> over(Values values, const Form &by) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (values[k] % by.values[k] != 0)
        return std::nullopt;
      values[k] /= by.values[k];
    }
    return values;
  }

  /// c * by * ceil_div(q, k), where `by` is a product or 1.
  std::optional<std::string> divided(const Values &all, const Form &by) {
    const auto quotients = over(all, by);
    if (!quotients)
      return std::nullopt;
    const Values &values = *quotients;
    if (std::ranges::all_of(values, [&](std::int64_t value) { return value == values.front(); }))
      return std::nullopt;
    const std::int64_t common = std::accumulate(values.begin(), values.end(), std::int64_t{0},
                                                [](std::int64_t a, std::int64_t b) { return std::gcd(a, b); });
    std::optional<std::tuple<int, std::size_t, std::int64_t>> best; // rank, length of the product, factor
    Form quotient;
    for (std::int64_t factor = 1; factor <= common; ++factor) {
      if (common % factor != 0)
        continue;
      Values parts = values;
      for (std::int64_t &part : parts)
        part /= factor;
      for (const auto &[text, product] : scaled_)
        if (const auto tile = divisor(parts, product)) {
          const std::tuple found{tile->rank, text.size(), factor};
          if (best && *best <= found)
            continue;
          best = found;
          quotient = {"ceil_div(" + text + ", " + std::to_string(tile->value) + ")", parts};
        }
    }
    if (!best)
      return std::nullopt;
    if (std::ranges::none_of(quotients_, [&](const Form &known) { return known.values == quotient.values; }))
      quotients_.push_back(quotient);
    return times(std::get<2>(*best), (by.text.empty() ? "" : by.text + " * ") + quotient.text);
  }

  /// by * (c * quotient + d): rows of a matrix behind those that were padded to whole tiles.
  std::optional<std::string> product_of_linear(const Values &all, const Form &by) const {
    const auto values = over(all, by);
    const auto text = values ? linear(*values, quotients_) : std::nullopt;
    return text ? std::optional(by.text + " * (" + *text + ")") : std::nullopt;
  }

  /// min(largest value, c * form) for a grid of resident blocks.
  std::optional<std::string> capped(const Values &values) const {
    const std::int64_t most = *std::ranges::max_element(values);
    if (std::ranges::count(values, most) < 2)
      return std::nullopt;
    std::vector<Form> both;
    for (const Form &p : products_)
      for (const Form &quotient : quotients_)
        both.push_back(product(p, quotient));
    for (const std::vector<Form> *forms : std::initializer_list<const std::vector<Form> *>{&products_, &quotients_, &both})
      for (const Form &form : *forms) {
        const auto below = std::ranges::find_if(values, [&](std::int64_t value) { return value < most; });
        const std::int64_t factor = *below / form.values[static_cast<std::size_t>(below - values.begin())];
        bool fits = factor > 0;
        for (std::size_t k = 0; k < values.size(); ++k)
          fits &= values[k] == std::min(most, factor * form.values[k]);
        if (fits)
          return "min(" + std::to_string(most) + ", " + times(factor, form.text) + ")";
      }
    return std::nullopt;
  }

  /// a + b of two numbers of the texts, as the blocks of joined launches.
  std::optional<std::string> sum(const Values &values) const {
    for (const auto &[some, expression] : known_) {
      Values rest = values;
      for (std::size_t k = 0; k < rest.size(); ++k)
        rest[k] -= some[k];
      if (const auto other = known_.find(rest); other != known_.end())
        return expression.text() + " + " + other->second.text();
    }
    return std::nullopt;
  }

  const std::vector<Sizes> &sizes_;
  std::vector<Form> products_, quotients_;
  std::map<std::string, Values> scaled_; ///< products times numbers of the texts
  std::map<Values, Expression> known_;
};

/// The tokens of several texts in step.
class Reader {
public:
  explicit Reader(const std::vector<std::string> &texts) : texts_(texts), places_(texts.size(), 0) {}

  bool is_at_end() const { return places_.front() == texts_.front().size(); }

  /// The next token of each text; nullopt where one text ends before the others.
  std::optional<std::vector<std::string>> next() {
    std::vector<std::string> tokens;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (places_[i] >= texts_[i].size())
        return std::nullopt;
      const std::size_t end = token_end(texts_[i], places_[i]);
      tokens.push_back(texts_[i].substr(places_[i], end - places_[i]));
      places_[i] = end;
    }
    return tokens;
  }

  /// The line of the first text that the last token is in.
  std::string line() const {
    const std::string &text = texts_.front();
    const std::size_t at = places_.front() ? places_.front() - 1 : 0;
    const std::size_t begin = text.rfind('\n', at), end = text.find('\n', at);
    const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
    return text.substr(from, std::min<std::size_t>((end == std::string::npos ? text.size() : end) - from, 160));
  }

private:
  const std::vector<std::string> &texts_;
  std::vector<std::size_t> places_;
};

std::string list_of(const Values &values) {
  std::string text;
  for (const std::int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

std::optional<Values> integers(const std::vector<std::string> &tokens) {
  Values values;
  for (const std::string &token : tokens) {
    const auto value = integer(token);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

} // namespace

std::string FittedText::with(const std::function<std::string(std::size_t)> &write) const {
  std::string text = parts.front();
  for (std::size_t i = 0; i < values.size(); ++i)
    text += write(i) + parts[i + 1];
  return text;
}

Result<std::string> FittedText::at(const Sizes &sizes) const {
  std::vector<std::int64_t> numbers;
  for (const Expression &value : values) {
    const auto number = value.evaluate(sizes);
    if (!number)
      return std::unexpected(number.error());
    numbers.push_back(*number);
  }
  return with([&](std::size_t i) { return std::to_string(numbers[i]); });
}

Result<FittedText> fit_integers(const std::vector<std::string> &texts, const std::vector<Sizes> &sizes) {
  if (texts.size() != sizes.size() || texts.size() < kFewestSamples || sizes.front().empty())
    return fail("expressions over sizes need texts at four sizes or more");
  FittedText fitted{{""}, {}};
  std::vector<Values> varying;
  std::vector<std::string> lines;
  Reader reader(texts);
  while (!reader.is_at_end()) {
    const auto tokens = reader.next();
    if (!tokens)
      return fail("the texts differ in length");
    if (std::ranges::all_of(*tokens, [&](const std::string &token) { return token == tokens->front(); })) {
      fitted.parts.back() += tokens->front();
      continue;
    }
    auto values = integers(*tokens);
    if (!values)
      return fail("the texts differ in more than integers: " + reader.line());
    varying.push_back(std::move(*values));
    lines.push_back(reader.line());
    fitted.parts.emplace_back();
  }
  const auto found = Fitter(sizes).fit(varying);
  for (std::size_t i = 0; i < varying.size(); ++i) {
    if (!found[i])
      return fail("no expression over the sizes gives the numbers " + list_of(varying[i]) + " in: " + lines[i]);
    fitted.values.push_back(*found[i]);
  }
  return fitted;
}

} // namespace warpwright::symbolic
