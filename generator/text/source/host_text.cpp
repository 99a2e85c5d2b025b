// Calls become arithmetic, names become the launch's texts; everything else is C++ already.
#include "generator/text/source/host_text.h"

#include <algorithm>
#include <cctype>

namespace warpwright::generator {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_number(const std::string &text) {
  return !text.empty() && text.size() < 10 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "n + 255": the sum that a division by `divisor` rounds up.
std::string rounded(const std::string &value, const std::string &divisor) {
  const std::string least =
      is_number(divisor) ? std::to_string(std::stol(divisor) - 1) : parenthesised(divisor) + " - 1";
  return "(" + as_summand(value) + " + " + least + ") / " + parenthesised(divisor);
}

class Translator {
public:
  explicit Translator(const Bindings &names) : names_(names) {}

  Result<std::string> translate(std::string_view text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
      if (!is_word(text[i])) {
        result += text[i++];
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && is_word(text[end]))
        ++end;
      const std::string word(text.substr(i, end - i));
      if (end < text.size() && text[end] == '(') {
        auto call = translate_call(word, text, end);
        if (!call)
          return call;
        // A call that is the whole of the text needs no parentheses around what it becomes.
        result += i == 0 && end == text.size() ? *call : parenthesised(*call);
      } else {
        const auto named = names_.find(word);
        result += named == names_.end() ? word : named->second;
      }
      i = end;
    }
    return result;
  }

private:
  /// @param place of the opening parenthesis; afterwards behind the closing one
  Result<std::string> translate_call(const std::string &name, std::string_view text,
                                     std::size_t &place) const {
    std::vector<std::string> arguments;
    int depth = 0;
    std::size_t begin = place + 1;
    for (; place < text.size(); ++place) {
      const char c = text[place];
      depth += (c == '(') - (c == ')');
      if ((c == ',' && depth == 1) || depth == 0) {
        auto argument = translate(trimmed(text.substr(begin, place - begin)));
        if (!argument)
          return argument;
        arguments.push_back(*argument);
        begin = place + 1;
      }
      if (depth == 0)
        break;
    }
    place = std::min(place + 1, text.size());
    if (arguments.size() != 2)
      return fail("the call of " + name + " cannot be written in C++");
    const std::string a = parenthesised(arguments[0]), b = parenthesised(arguments[1]);
    if (name == "ceil_div")
      return rounded(arguments[0], arguments[1]);
    if (name == "round_up")
      return rounded(arguments[0], arguments[1]) + " * " + b;
    if (name == "min")
      return "(" + a + " < " + b + " ? " + a + " : " + b + ")";
    if (name == "max")
      return "(" + a + " > " + b + " ? " + a + " : " + b + ")";
    return fail("the call of " + name + " cannot be written in C++");
  }

  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ')
      text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
      text.remove_suffix(1);
    return text;
  }

  const Bindings &names_;
};

} // namespace

Result<std::string> host_text(const Expression &expression, const Bindings &names) {
  return Translator(names).translate(expression.text());
}

} // namespace warpwright::generator
