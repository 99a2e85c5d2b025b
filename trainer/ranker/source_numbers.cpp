#include "trainer/ranker/source_numbers.h"

#include "trainer/tokens/source_words.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kMostWords = 4096;

/// A feature, and the words that it counts. A word that ends in '*' stands for all that begin so.
struct WordClass {
  const char *name;
  std::vector<std::string_view> words;
};

const std::vector<WordClass> &word_classes() {
  static const std::vector<WordClass> kClasses{
      {"for", {"for"}},
      {"while", {"while", "do"}},
      {"if", {"if", "?"}},
      {"return", {"return", "break", "continue"}},
      {"index", {"["}},
      {"multiply", {"*"}},
      {"add", {"+"}},
      {"subtract", {"-"}},
      {"divide", {"/"}},
      {"remainder", {"%"}},
      {"shift", {"<", ">"}},
      {"bits", {"&", "|", "^", "~"}},
      {"exponential",
       {"exp*", "__exp*", "pow*", "tanh*", "sinh*", "cosh*", "erf*", "log*", "__log*"}},
      {"root", {"sqrt*", "rsqrt*", "cbrt*", "norm*", "hypot*"}},
      {"trigonometric", {"sin*", "cos*", "tan*", "atan*", "acos*", "asin*", "__sin*", "__cos*"}},
      {"extreme", {"max*", "min*", "fmax*", "fmin*"}},
      {"absolute", {"abs*", "fabs*"}},
      {"atomic", {"atomic*"}},
      {"shuffle", {"__shfl*", "__ballot*", "__reduce*"}},
      {"barrier", {"__syncthreads", "__syncwarp"}},
      {"shared", {"__shared__"}},
      {"const", {"const"}},
      {"restrict", {"__restrict__"}},
      {"double", {"double"}},
      {"float", {"float", "float2", "float4"}},
      {"half", {"half", "__half", "half2", "__half2", "__nv_bfloat16"}},
      {"narrow", {"char", "short", "uint8_t", "int8_t", "uchar4"}},
      {"infinity", {"INFINITY"}},
      {"y", {"y"}},
      {"z", {"z"}},
  };
  return kClasses;
}

bool matches(std::string_view pattern, const std::string &word) {
  return pattern.size() > 1 && pattern.ends_with('*')
             ? word.starts_with(pattern.substr(0, pattern.size() - 1))
             : word == pattern;
}

} // namespace

std::vector<std::pair<std::string, float>> source_numbers(std::string_view source) {
  const std::vector<std::string> words = source_words(source, kMostWords);
  std::vector<std::pair<std::string, float>> numbers{
      {"source.words", float(std::log2(1.0 + double(words.size())))}};
  for (const WordClass &one : word_classes()) {
    const auto count = std::ranges::count_if(words, [&](const std::string &word) {
      return std::ranges::any_of(one.words,
                                 [&](std::string_view pattern) { return matches(pattern, word); });
    });
    numbers.emplace_back(std::string("source.") + one.name, float(count));
  }
  return numbers;
}

} // namespace warpwright::trainer
