#include "server/program/line_tokens.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

namespace warpwright::program {
namespace {

using Words = std::set<std::string, std::less<>>;

const Words kChecks{"pass",         "passed", "passes",  "fail",       "failed",    "failure",    "fails",
                    "error",        "errors", "err",     "residual",   "checksum",  "correct",    "incorrect",
                    "mismatch",     "wrong",  "success", "successful", "succeeded", "mismatches", "verified",
                    "verification", "valid",  "invalid", "residuals",  "checksums"};
const Words kErrors{"error", "errors",    "err",  "residual", "residuals", "difference", "differences",
                    "diff",  "deviation", "rmse", "mse",      "l2error",   "maxerror"};
const Words kTimes{"time",         "times",       "timing",      "timings",    "elapsed", "took",    "takes",
                   "duration",     "seconds",     "second",      "sec",        "secs",    "msec",    "usec",
                   "ms",           "us",          "ns",          "gflops",     "gflop",   "mflops",  "tflops",
                   "flops",        "mlups",       "glups",       "speed",      "speedup", "perf",    "performance",
                   "bandwidth",    "throughput",  "latency",     "cycles",     "fps",     "runtime", "milliseconds",
                   "microseconds", "nanoseconds", "millisecond", "microsecond"};
const Words kUnits{"s",    "sec",         "secs",         "second",       "seconds",    "ms",
                   "msec", "millisecond", "milliseconds", "us",           "usec",       "ns",
                   "min",  "minutes",     "microsecond",  "microseconds", "nanosecond", "nanoseconds"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

bool is_word_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
bool is_word_part(char c) { return is_word_start(c) || is_digit(c); }

/// The words of a name: "kernel", "Time" of kernelTime, and of kernel_time.
std::vector<std::string> parts_of(const std::string &word) {
  std::vector<std::string> parts{""};
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool begins = i > 0 && std::isupper(static_cast<unsigned char>(word[i])) &&
                        std::islower(static_cast<unsigned char>(word[i - 1]));
    if (begins || word[i] == '_')
      parts.emplace_back();
    if (word[i] != '_')
      parts.back() += word[i];
  }
  std::ranges::transform(parts, parts.begin(), lower);
  return parts;
}

bool has_word(const std::vector<Token> &tokens, const Words &words) {
  return std::ranges::any_of(tokens, [&](const Token &token) {
    return token.kind == Token::Kind::Word &&
           (words.contains(lower(token.text)) ||
            std::ranges::any_of(parts_of(token.text), [&](const std::string &part) { return words.contains(part); }));
  });
}

/// The length of the number at the start of a text; 0: there is none.
std::size_t number_length(std::string_view text, bool may_have_sign, Token &token) {
  const std::size_t sign = may_have_sign && (text[0] == '-' || text[0] == '+');
  const std::string_view rest = text.substr(sign);
  const std::string word = lower(rest.substr(0, std::ranges::find_if_not(rest, is_word_part) - rest.begin()));
  token.is_integer = false;
  if (word == "nan" || word == "inf" || word == "infinity") {
    token.value = word == "nan" ? std::nan("") : text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    return sign + word.size();
  }
  if (rest.size() > 2 && rest[0] == '0' && (rest[1] == 'x' || rest[1] == 'X')) {
    unsigned long long value = 0;
    const auto [end, error] = std::from_chars(rest.data() + 2, rest.data() + rest.size(), value, 16);
    if (error == std::errc()) {
      token.is_integer = true;
      token.value = static_cast<double>(value);
      return sign + static_cast<std::size_t>(end - rest.data());
    }
  }
  const bool starts = !rest.empty() && (is_digit(rest[0]) || (rest.size() > 1 && rest[0] == '.' && is_digit(rest[1])));
  if (!starts)
    return 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), token.value);
  const std::size_t length = static_cast<std::size_t>(end - rest.data());
  const std::string_view digits = rest.substr(0, length);
  token.is_integer = digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (sign && text[0] == '-')
    token.value = -token.value;
  return sign + length;
}

/// Marks the numbers that a unit of time, or a rate "GB/s", follows; "(ms)" is one, too.
void mark_times(std::vector<Token> &tokens) {
  const auto text_at = [&](std::size_t i) { return i < tokens.size() ? lower(tokens[i].text) : std::string(); };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::Number)
      continue;
    std::size_t next = i + 1;
    if (text_at(next) == "(" || text_at(next) == "[")
      ++next;
    const std::string unit = text_at(next);
    const bool is_rate = next < tokens.size() && tokens[next].kind == Token::Kind::Word && text_at(next + 1) == "/" &&
                         kUnits.contains(text_at(next + 2));
    tokens[i].is_time = kUnits.contains(unit) || is_rate || unit.ends_with("flops") || unit == "fps";
  }
}

} // namespace

std::vector<Token> tokens_of(std::string_view line) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < line.size();) {
    if (std::isspace(static_cast<unsigned char>(line[at]))) {
      ++at;
      continue;
    }
    Token token;
    const bool may_have_sign = at == 0 || !(is_word_part(line[at - 1]) || line[at - 1] == '.' || line[at - 1] == ')');
    std::size_t length = number_length(line.substr(at), may_have_sign, token);
    if (length > 0) {
      token.kind = Token::Kind::Number;
    } else if (is_word_start(line[at])) {
      token.kind = Token::Kind::Word;
      while (at + length < line.size() && is_word_part(line[at + length]))
        ++length;
    } else {
      length = 1;
    }
    token.text = line.substr(at, length);
    tokens.push_back(std::move(token));
    at += length;
  }
  mark_times(tokens);
  return tokens;
}

std::string skeleton_of(const std::vector<Token> &tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += (text.empty() ? "" : " ") + (token.kind == Token::Kind::Number ? "#" : token.text);
  return text;
}

bool tells_a_check(const std::vector<Token> &tokens) { return has_word(tokens, kChecks) || has_word(tokens, kErrors); }
bool tells_an_error(const std::vector<Token> &tokens) { return has_word(tokens, kErrors); }

bool tells_a_time(const std::vector<Token> &tokens) {
  return has_word(tokens, kTimes) || std::ranges::any_of(tokens, &Token::is_time);
}

double last_place_of(const Token &number) {
  constexpr int kFewestDigits = 4;
  const std::string text = lower(number.text);
  if (number.is_integer || !std::isfinite(number.value))
    return 0;
  const std::size_t exponent_at = std::min(text.find('e'), text.size()), point = text.find('.');
  int exponent = 0;
  if (exponent_at < text.size()) {
    const char *begin = text.data() + exponent_at + 1 + (text[exponent_at + 1] == '+');
    std::from_chars(begin, text.data() + text.size(), exponent);
  }
  const int decimals = point < exponent_at ? static_cast<int>(exponent_at - point - 1) : 0;
  const std::size_t first = text.find_first_of("123456789");
  const auto digits = std::count_if(text.begin() + static_cast<std::ptrdiff_t>(std::min(first, exponent_at)),
                                    text.begin() + static_cast<std::ptrdiff_t>(exponent_at), is_digit);
  return digits < kFewestDigits ? 0 : std::pow(10.0, exponent - decimals);
}

} // namespace warpwright::program
