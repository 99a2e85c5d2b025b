#include "support/symbolic/expression.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace warpwright::symbolic {

namespace {

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

// Binary operators from the lowest to the highest precedence, as in C.
constexpr std::array<std::array<std::string_view, 4>, 10> kLevels{{{"||"},
                                                                   {"&&"},
                                                                   {"|"},
                                                                   {"^"},
                                                                   {"&"},
                                                                   {"==", "!="},
                                                                   {"<=", ">=", "<", ">"},
                                                                   {"<<", ">>"},
                                                                   {"+", "-"},
                                                                   {"*", "/", "%"}}};
constexpr int kMaxDepth = 200; // an adversarial text must not exhaust the stack

class Parser {
public:
  Parser(std::string_view text, std::set<std::string> &symbols) : text_(text), symbols_(symbols) {}

  Result<NodePtr> parse_all() {
    auto node = ternary();
    skip_space();
    if (!error_ && position_ != text_.size())
      set_error("unexpected '" + std::string(1, text_[position_]) + "'");
    if (error_)
      return std::unexpected(*error_);
    return node;
  }

private:
  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])))
      ++position_;
  }
  bool accept(std::string_view token) {
    skip_space();
    if (!text_.substr(position_).starts_with(token))
      return false;
    // "<" must not take the first half of "<<" or "<=", nor "&" of "&&".
    if (token.size() == 1 && position_ + 1 < text_.size()) {
      const char c = token[0], next = text_[position_ + 1];
      if (((c == '<' || c == '>' || c == '&' || c == '|') && next == c) ||
          ((c == '<' || c == '>' || c == '!') && next == '='))
        return false;
    }
    position_ += token.size();
    return true;
  }
  void set_error(const std::string &what) {
    if (!error_)
      error_ = Error{"cannot read the expression \"" + std::string(text_) + "\": " + what +
                         " at column " + std::to_string(position_ + 1),
                     "Write an integer expression over the sizes, like (n + 255) / 256"};
  }
  NodePtr make(std::string name, std::vector<NodePtr> children) {
    return std::make_shared<Node>(
        Node{Node::Kind::Operator, 0, std::move(name), std::move(children)});
  }
  NodePtr zero() { return std::make_shared<Node>(); }

  NodePtr ternary() {
    if (++depth_ > kMaxDepth)
      set_error("too deeply nested");
    if (error_)
      return zero();
    NodePtr condition = binary(0);
    if (accept("?")) {
      NodePtr yes = ternary();
      if (!accept(":"))
        set_error("expected ':'");
      condition = make("?", {condition, yes, ternary()});
    }
    --depth_;
    return condition;
  }
  NodePtr binary(std::size_t level) {
    if (level == kLevels.size())
      return unary();
    NodePtr left = binary(level + 1);
    for (bool more = true; more && !error_;) {
      more = false;
      for (std::string_view token : kLevels[level])
        if (!token.empty() && accept(token)) {
          left = make(std::string(token), {left, binary(level + 1)});
          more = true;
          break;
        }
    }
    return left;
  }
  NodePtr unary() {
    if (++depth_ > kMaxDepth)
      set_error("too deeply nested");
    NodePtr node;
    if (error_)
      node = zero();
    else if (accept("-"))
      node = make("neg", {unary()});
    else if (accept("~"))
      node = make("~", {unary()});
    else if (accept("!"))
      node = make("!", {unary()});
    else if (accept("+"))
      node = unary();
    else
      node = primary();
    --depth_;
    return node;
  }
  NodePtr primary() {
    skip_space();
    if (accept("(")) {
      NodePtr node = ternary();
      if (!accept(")"))
        set_error("expected ')'");
      return node;
    }
    const std::size_t begin = position_;
    auto is_word = [&](std::size_t i) {
      return i < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[i])) || text_[i] == '_' ||
              text_[i] == '.');
    };
    while (is_word(position_))
      ++position_;
    const std::string word(text_.substr(begin, position_ - begin));
    if (word.empty()) {
      set_error("expected a number or a name");
      return zero();
    }
    if (std::isdigit(static_cast<unsigned char>(word[0])))
      return number(word);
    if (accept("("))
      return call(word);
    symbols_.insert(word);
    return std::make_shared<Node>(Node{Node::Kind::Symbol, 0, word, {}});
  }
  NodePtr number(const std::string &word) {
    std::size_t used = 0;
    std::int64_t value = 0;
    try {
      value = std::stoll(word, &used, 0);
    } catch (const std::exception &) {
      set_error("the number " + word + " does not fit 64 bits");
      return zero();
    }
    if (word.find_first_not_of("uUlL", used) != std::string::npos)
      set_error("no integer: " + word);
    return std::make_shared<Node>(Node{Node::Kind::Constant, value, "", {}});
  }
  NodePtr call(const std::string &name) {
    if (name != "min" && name != "max" && name != "ceil_div" && name != "round_up")
      set_error("unknown function " + name);
    std::vector<NodePtr> arguments{ternary()};
    if (!accept(","))
      set_error(name + " takes two arguments");
    arguments.push_back(ternary());
    if (!accept(")"))
      set_error("expected ')'");
    return make(name, std::move(arguments));
  }

  std::string_view text_;
  std::set<std::string> &symbols_;
  std::size_t position_ = 0;
  int depth_ = 0;
  std::optional<Error> error_;
};

Result<std::int64_t> overflow(const std::string &name) {
  return fail("'" + name + "' overflows 64 bits in a size expression",
              "Check the sizes of the task");
}

Result<std::int64_t> divide(const std::string &name, std::int64_t a, std::int64_t b) {
  if (b == 0)
    return fail("division by zero in a size expression", "Check the sizes of the task");
  if (b == -1 && a == std::numeric_limits<std::int64_t>::min())
    return overflow(name);
  return name == "%" ? a % b : a / b;
}

Result<std::int64_t> ceil_div(std::int64_t a, std::int64_t b) {
  if (b <= 0 || a < 0)
    return fail("ceil_div and round_up need a dividend of at least 0 and a positive divisor");
  return a / b + (a % b != 0);
}

Result<std::int64_t> apply(const std::string &name, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (name == "+")
    return __builtin_add_overflow(a, b, &r) ? overflow(name) : Result<std::int64_t>(r);
  if (name == "-")
    return __builtin_sub_overflow(a, b, &r) ? overflow(name) : Result<std::int64_t>(r);
  if (name == "*")
    return __builtin_mul_overflow(a, b, &r) ? overflow(name) : Result<std::int64_t>(r);
  if (name == "/" || name == "%")
    return divide(name, a, b);
  if (name == "ceil_div")
    return ceil_div(a, b);
  if (name == "round_up") {
    auto quotient = ceil_div(a, b);
    return !quotient || __builtin_mul_overflow(*quotient, b, &r)
               ? (quotient ? overflow(name) : quotient)
               : Result<std::int64_t>(r);
  }
  if (name == "<<" || name == ">>") {
    if (b < 0 || b > 62)
      return fail("shift by " + std::to_string(b) + " in a size expression");
    if (name == ">>")
      return a >> b;
    return __builtin_mul_overflow(a, std::int64_t{1} << b, &r) ? overflow(name)
                                                               : Result<std::int64_t>(r);
  }
  static const std::map<std::string, std::function<std::int64_t(std::int64_t, std::int64_t)>>
      kTotal{{"min", [](auto x, auto y) { return std::min(x, y); }},
             {"max", [](auto x, auto y) { return std::max(x, y); }},
             {"&", std::bit_and<>{}},
             {"|", std::bit_or<>{}},
             {"^", std::bit_xor<>{}},
             {"<", std::less<>{}},
             {"<=", std::less_equal<>{}},
             {">", std::greater<>{}},
             {">=", std::greater_equal<>{}},
             {"==", std::equal_to<>{}},
             {"!=", std::not_equal_to<>{}}};
  return kTotal.at(name)(a, b);
}

Result<std::int64_t> evaluate_node(const Node &node, const Sizes &sizes) {
  if (node.kind == Node::Kind::Constant)
    return node.value;
  if (node.kind == Node::Kind::Symbol) {
    const auto found = sizes.find(node.name);
    if (found == sizes.end())
      return fail("the size " + node.name + " is not bound", "Give it a value in the task's sizes");
    return found->second;
  }
  auto first = evaluate_node(*node.children[0], sizes);
  if (!first)
    return first;
  if (node.name == "neg")
    return apply("-", 0, *first);
  if (node.name == "~")
    return ~*first;
  if (node.name == "!")
    return !*first;
  if (node.name == "?")
    return evaluate_node(*node.children[*first ? 1 : 2], sizes);
  if ((node.name == "&&" && !*first) || (node.name == "||" && *first))
    return node.name == "||";
  auto second = evaluate_node(*node.children[1], sizes);
  if (!second)
    return second;
  if (node.name == "&&" || node.name == "||")
    return *second != 0;
  return apply(node.name, *first, *second);
}

} // namespace

Expression::Expression() : Expression(0) {}

Expression::Expression(std::int64_t value)
    : text_(std::to_string(value)),
      root_(std::make_shared<Node>(Node{Node::Kind::Constant, value, "", {}})) {}

Result<Expression> Expression::parse(const std::string &text) {
  Expression expression;
  expression.text_ = text;
  expression.root_ = TRY(Parser(text, expression.symbols_).parse_all());
  return expression;
}

Result<std::int64_t> Expression::evaluate(const Sizes &sizes) const {
  return evaluate_node(*root_, sizes);
}

std::string describe_sizes(const Sizes &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text.empty() ? "its fixed sizes" : text;
}

} // namespace warpwright::symbolic
