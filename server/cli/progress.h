// A progress bar on a terminal, plain lines elsewhere.
//
// One line that is redrawn: "matmul  [######----------]  12/64  best 2.31x  measuring tile(64)". In
// a log or a pipe only variants that improve on the best and every tenth one get a line. Writes to
// the stream it is given and to nothing else. Thread: one at a time.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

namespace warpwright::cli {

struct ProgressState {
  std::string kernel;
  std::size_t tried = 0;
  std::size_t limit = 0;      ///< variants at most
  double elapsed_share = 0;   ///< of the time budget, 0..1
  std::optional<double> best; ///< speedup ratio
  std::size_t verified = 0;
  std::string doing; ///< "measuring tile(block=64)"
};

/// How far along: by count or by time, whichever is further, 0..1.
double share(const ProgressState &state);
/// The line without line ends, at most `width` columns.
std::string progress_line(const ProgressState &state, std::size_t width);

class Progress {
public:
  /// @param terminal whether `out` is one, so that a line can be redrawn
  Progress(std::ostream &out, bool terminal, std::size_t width);
  ~Progress();
  void show(const ProgressState &state);
  /// Removes the bar, so that other text can follow.
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
