#include "trainer/tokens/source_words.h"

#include "trainer/tokens/vocabulary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kLongNumber = 5;
constexpr std::string_view kDropped = ";,(){}";
constexpr std::array<std::string_view, 44> kKeptWords{
    "__global__", "__shared__", "__device__", "__restrict__", "__syncthreads", "__launch_bounds__",
    "const",      "int",        "unsigned",   "float",        "double",        "half",
    "__half",     "char",       "long",       "short",        "size_t",        "int64_t",
    "uint32_t",   "uint8_t",    "bool",       "void",         "for",           "while",
    "if",         "else",       "return",     "break",        "continue",      "do",
    "switch",     "threadIdx",  "blockIdx",   "blockDim",     "gridDim",       "float4",
    "float2",     "extern",     "static",     "constexpr",    "template",      "typename",
    "INFINITY",   "auto"};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<std::string> words(std::size_t most) {
    std::vector<std::string> result;
    while (result.size() < most && skip_blank())
      if (std::string word = next(); !word.empty())
        result.push_back(std::move(word));
    return result;
  }

private:
  /// Skips blanks, comments and line markers. @return false at the end of the text
  bool skip_blank() {
    for (; place_ < text_.size(); ++place_) {
      const std::string_view rest = text_.substr(place_);
      if (rest.starts_with("//") || rest.starts_with("#line"))
        place_ = std::min(text_.find('\n', place_), text_.size() - 1);
      else if (rest.starts_with("/*"))
        place_ = std::min(text_.find("*/", place_ + 2), text_.size() - 2) + 1;
      else if (!std::isspace(static_cast<unsigned char>(rest.front())))
        return true;
    }
    return false;
  }

  std::string next() {
    const std::size_t begin = place_;
    if (!is_name(text_[place_])) {
      ++place_;
      return kDropped.find(text_[begin]) == std::string_view::npos ? std::string(1, text_[begin])
                                                                   : std::string();
    }
    const bool number = std::isdigit(static_cast<unsigned char>(text_[place_]));
    while (place_ < text_.size() && (is_name(text_[place_]) || (number && text_[place_] == '.')))
      ++place_;
    const std::string word(text_.substr(begin, place_ - begin));
    if (number)
      return word.size() >= kLongNumber ? "num" : word;
    const bool called = place_ < text_.size() && text_[place_] == '(';
    const bool member = begin > 0 && text_[begin - 1] == '.';
    if (called || member || std::ranges::find(kKeptWords, word) != kKeptWords.end())
      return word;
    const auto [variable, is_new] = variables_.emplace(word, variables_.size() % Vocabulary::kVariables);
    return "v" + std::to_string(variable->second);
  }

  std::string_view text_;
  std::size_t place_ = 0;
  std::map<std::string, std::size_t> variables_;
};

} // namespace

std::vector<std::string> source_words(std::string_view source, std::size_t most) {
  return Lexer(source).words(most);
}

} // namespace warpwright::trainer
