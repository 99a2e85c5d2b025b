#include "trainer/tokens/vocabulary.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

constexpr int kLargestPower = 48, kLargestQuarter = 40, kTenths = 10;

} // namespace

Vocabulary::Vocabulary(const std::vector<std::string> &words) {
  const auto add = [this](const std::string &word) {
    if (ids_.emplace(word, int(words_.size())).second)
      words_.push_back(word);
  };
  for (const char *word :
       {kUnknown, kBegin,   kDevice,   kSource,   kLegal,   kExemplar,   kAnalysis,   kMoves,
        kStop,    kHidden,  kFirst,    kSecond,   kNone,    "in",        "out",       "inout",
        "bytes",  "flops",  "grid",    "block",   "shared", "registers", "occupancy", "time",
        "sizes",  "memory", "compute", "latency", "0",      "num",       "x0"})
    add(word);
  for (int i = 0; i <= kLargestPower; ++i)
    add("2^" + std::to_string(i));
  for (int i = -kLargestQuarter; i <= kLargestQuarter; ++i)
    add(std::string("x") + (i < 0 ? "" : "+") + std::to_string(i));
  for (int i = 0; i < kVariables; ++i)
    add("v" + std::to_string(i));
  for (int i = 0; i <= kTenths; ++i)
    add("tenths" + std::to_string(i));
  for (const std::string &word : words)
    add(word);
}

int Vocabulary::id(const std::string &word) const {
  const auto found = ids_.find(word);
  return found == ids_.end() ? 0 : found->second;
}

std::vector<int> Vocabulary::ids(const std::vector<std::string> &words) const {
  std::vector<int> result;
  for (const std::string &word : words)
    result.push_back(id(word));
  return result;
}

std::string size_word(double value) {
  if (!(value >= 1))
    return "0";
  return "2^" + std::to_string(std::min(kLargestPower, int(std::log2(value))));
}

std::string score_word(double score) {
  if (!(score > 0))
    return "x0";
  const int quarters =
      std::clamp(int(std::lround(4 * std::log2(score))), -kLargestQuarter, kLargestQuarter);
  return std::string("x") + (quarters < 0 ? "" : "+") + std::to_string(quarters);
}

} // namespace warpwright::trainer
