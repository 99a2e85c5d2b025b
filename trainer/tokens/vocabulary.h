// The words that the transformer knows, and their numbers. It is a part of the weights' file: a network cannot be read without it.
//
// Some words are always there and first; the rest comes from the tasks and moves that the first training saw. A word
// that is not known is kUnknown. Thread: any, once made.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace warpwright::trainer {

class Vocabulary {
public:
  /// The fixed words, then `words` in their order, each once.
  explicit Vocabulary(const std::vector<std::string> &words = {});

  int id(const std::string &word) const; ///< of kUnknown where it is not known
  std::vector<int> ids(const std::vector<std::string> &words) const;
  const std::string &word(int id) const { return words_.at(std::size_t(id)); }
  int size() const { return int(words_.size()); }
  const std::vector<std::string> &words() const { return words_; }

  static constexpr const char *kUnknown = "<unknown>", *kBegin = "<begin>", *kDevice = "<device>",
                              *kSource = "<source>", *kLegal = "<legal>", *kExemplar = "<exemplar>",
                              *kAnalysis = "<analysis>", *kMoves = "<moves>", *kStop = "<stop>",
                              *kHidden = "<hidden>", *kFirst = "<first>", *kSecond = "<second>",
                              *kNone = "<none>";

private:
  std::vector<std::string> words_;
  std::map<std::string, int> ids_;
};

/// Powers of two as one word each: 4096 -> "2^12", 5000 -> "2^12"; 0 -> "0".
std::string size_word(double value);
/// Speedups in quarters of an octave, within a thousandth to a thousandfold: 2.0 -> "x+4"; failures -> "x0".
std::string score_word(double score);

} // namespace warpwright::trainer
