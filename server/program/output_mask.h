// What a run of a program gives, and the comparison of a changed program's run with runs of the
// original. Thread: values, any.
#pragma once

#include "server/program/text_mask.h"

#include <map>

namespace warpwright::program {

inline constexpr char kStdout[] = "stdout";

struct RunOutput {
  int status = 0;                           ///< as a shell gives it
  std::map<std::string, std::string> texts; ///< kStdout, and each written file by its path from the program's folder
};

class OutputMask {
public:
  /// @param originals runs of the unchanged program; at least two, three are usual
  OutputMask(std::span<const RunOutput> originals, const NumberTolerance &tolerance);

  /// One sentence for each way in which a run differs from the originals. Empty: it agrees.
  std::vector<std::string> differences(const RunOutput &run) const;

  /// What is not compared, and why: one sentence for each text.
  std::vector<std::string> left_out() const;

  std::size_t texts() const { return masks_.size(); }

private:
  int status_ = 0;
  std::map<std::string, TextMask> masks_; ///< of texts that all originals have
  std::vector<std::string> varying_;      ///< files that only some originals wrote
};

} // namespace warpwright::program
