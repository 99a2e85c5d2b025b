// A line of a program's output as words, numbers and signs, and which of its numbers are times.
//
// White space only separates tokens: a column may become wider. Thread: values, any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpwright::program {

struct Token {
  enum class Kind { Word, Number, Sign };
  Kind kind = Kind::Sign;
  std::string text;
  double value = 0;        ///< of a number
  bool is_integer = false; ///< of a number: without a point and an exponent, or hexadecimal
  bool is_time = false;    ///< a number with a unit of time or of a rate behind it: "3.2 ms", "5 GB/s"
};

std::vector<Token> tokens_of(std::string_view line);

/// The same text for lines that differ in numbers only: "step # of #".
std::string skeleton_of(const std::vector<Token> &tokens);

/// Whether a line tells a result of a check: it has PASS, FAIL, error, residual, checksum or a like
/// word.
bool tells_a_check(const std::vector<Token> &tokens);

/// Whether a line tells an error or a difference, which is right where it is small.
bool tells_an_error(const std::vector<Token> &tokens);

/// Whether a line tells how long something took, or how fast it was.
bool tells_a_time(const std::vector<Token> &tokens);

/// The value of one unit in a printed number's last place; 0 where it has fewer than four digits.
double last_place_of(const Token &number);

} // namespace warpwright::program
