// Progress bar on a terminal, plain lines elsewhere.
//
// A terminal shows one line that is redrawn: "matmul  [######----------]  12/64  best 2.31x
// measuring tile(64)". A log or a pipe gets a line for each improvement and for every tenth
// variant. It writes only to the given stream. Thread: one at a time.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

namespace warpwright::cli {

struct ProgressState {
  std::string kernel;
  std::size_t tried = 0;
  std::size_t limit = 0;      ///< largest number of variants
  double elapsed_share = 0;   ///< share of the time budget, 0..1
  std::optional<double> best; ///< speedup ratio
  std::size_t verified = 0;
  std::string doing; ///< "measuring tile(block=64)"
};

/// Share done, 0..1: the larger of the shares by count and by time.
double share(const ProgressState &state);
/// Text of the bar without a line end, at most `width` columns.
std::string progress_line(const ProgressState &state, std::size_t width);

class Progress {
public:
  /// @param terminal whether `out` is a terminal, so that a line can be redrawn
  Progress(std::ostream &out, bool terminal, std::size_t width);
  ~Progress();
  void show(const ProgressState &state);
  /// Removes the bar before other output.
  void clear();

private:
  std::ostream &out_;
  bool terminal_;
  std::size_t width_;
  bool drawn_ = false;
  std::size_t reported_ = 0;
  std::optional<double> reported_best_;
};

} // namespace warpwright::cli
