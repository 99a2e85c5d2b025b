// Vocabulary of the transformer: words and their numbers. It is part of the weights file.
//
// Fixed words come first; the others come from the tasks and moves of the first training. An unknown word maps to
// kUnknown. Thread: any, after construction.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace warpwright::trainer {

class Vocabulary {
public:
  /// Holds the fixed words, then `words` in their order, without duplicates.
  explicit Vocabulary(const std::vector<std::string> &words = {});

  int id(const std::string &word) const; ///< unknown words: the id of kUnknown
  std::vector<int> ids(const std::vector<std::string> &words) const;
  const std::string &word(int id) const { return words_.at(std::size_t(id)); }
  int size() const { return int(words_.size()); }
  const std::vector<std::string> &words() const { return words_; }

  static constexpr int kVariables = 24; ///< words for the names of a source in turn: "v0", "v1", ...
  static constexpr const char *kUnknown = "<unknown>", *kBegin = "<begin>", *kDevice = "<device>",
                              *kSource = "<source>", *kLegal = "<legal>", *kExemplar = "<exemplar>",
                              *kAnalysis = "<analysis>", *kMoves = "<moves>", *kStop = "<stop>",
                              *kHidden = "<hidden>", *kFirst = "<first>", *kSecond = "<second>",
                              *kNone = "<none>";

private:
  std::vector<std::string> words_;
  std::map<std::string, int> ids_;
};

/// Word of a size, rounded down to a power of two: 4096 -> "2^12", 5000 -> "2^12"; below 1 -> "0".
std::string size_word(double value);
/// Word of a speedup in quarters of an octave, clamped to 1/1024..1024: 2.0 -> "x+4"; failures -> "x0".
std::string score_word(double score);

} // namespace warpwright::trainer
