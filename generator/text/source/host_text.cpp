// Translation of size expressions to C++: calls become arithmetic, names become the launch's texts.
#include "generator/text/source/host_text.h"

#include <algorithm>
#include <cctype>

namespace warpwright::source {
namespace {

bool is_number(const std::string &text) {
  return !text.empty() && text.size() < 10 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Rounded-up quotient as text: "(n + 255) / 256".
std::string rounded_up_quotient(const std::string &value, const std::string &divisor) {
  if (is_number(divisor))
    return ceil_div_text(value, std::stoi(divisor));
  const std::string by = parenthesised(divisor);
  return "(" + as_summand(value) + " + " + by + " - 1) / " + by;
}

Result<std::string> call_text(const std::string &name, const std::vector<std::string> &arguments) {
  if (arguments.size() == 2) {
    const std::string a = parenthesised(arguments[0]), b = parenthesised(arguments[1]);
    if (name == "ceil_div")
      return rounded_up_quotient(arguments[0], arguments[1]);
    if (name == "round_up")
      return rounded_up_quotient(arguments[0], arguments[1]) + " * " + b;
    if (name == "min" || name == "max")
      return "(" + a + (name == "min" ? " < " : " > ") + b + " ? " + a + " : " + b + ")";
  }
  return fail("the call of " + name + " cannot be written in C++");
}

Result<std::string> translate(std::string_view text, const Bindings &names);

/// @param place offset of the opening parenthesis; on return, the offset after the closing one
Result<std::string> translate_call(const std::string &name, std::string_view text,
                                   std::size_t &place, const Bindings &names) {
  std::vector<std::string> arguments;
  int depth = 0;
  std::size_t begin = place + 1;
  do {
    const char c = text[place];
    depth += (c == '(') - (c == ')');
    if ((c == ',' && depth == 1) || depth == 0) {
      auto argument = translate(trimmed(text.substr(begin, place - begin)), names);
      if (!argument)
        return argument;
      arguments.push_back(*argument);
      begin = place + 1;
    }
  } while (++place < text.size() && depth > 0);
  return call_text(name, arguments);
}

Result<std::string> translate(std::string_view text, const Bindings &names) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word(text[i])) {
      result += text[i++];
      continue;
    }
    std::size_t end = std::find_if_not(text.begin() + i, text.end(), is_word) - text.begin();
    const std::string word(text.substr(i, end - i));
    if (end < text.size() && text[end] == '(') {
      auto call = translate_call(word, text, end, names);
      if (!call)
        return call;
      // If the call is the whole text, its translation needs no parentheses.
      result += i == 0 && end == text.size() ? *call : parenthesised(*call);
    } else {
      const auto named = names.find(word);
      result += named == names.end() ? word : named->second;
    }
    i = end;
  }
  return result;
}

} // namespace

Result<std::string> host_text(const symbolic::Expression &expression, const Bindings &names) {
  return translate(expression.text(), names);
}

} // namespace warpwright::source
