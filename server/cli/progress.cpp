// Implementation of the progress bar by carriage return and "erase to end of line".
#include "server/cli/progress.h"

#include "support/words.h"

#include <algorithm>
#include <ostream>

namespace warpwright::cli {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr std::size_t kLineEvery = 10; ///< variants per line without a terminal

} // namespace

double share(const ProgressState &state) {
  const double by_count = state.limit ? double(state.tried) / double(state.limit) : 0;
  return std::clamp(std::max(by_count, state.elapsed_share), 0.0, 1.0);
}

std::string progress_line(const ProgressState &state, std::size_t width) {
  const std::size_t filled = std::size_t(share(state) * kBarWidth + 0.5);
  std::string line = state.kernel + "  [" + std::string(filled, '#') +
                     std::string(kBarWidth - filled, '-') + "]  " + std::to_string(state.tried) +
                     " tried, " + std::to_string(state.verified) + " verified";
  if (state.best)
    line += ", best " + printed("%.2fx", *state.best);
  if (!state.doing.empty())
    line += "  " + state.doing;
  return line.substr(0, width);
}

Progress::Progress(std::ostream &out, bool terminal, std::size_t width)
    : out_(out), terminal_(terminal), width_(width) {}

Progress::~Progress() { clear(); }

void Progress::show(const ProgressState &state) {
  if (terminal_) {
    out_ << '\r' << progress_line(state, width_ - 1) << "\x1b[K" << std::flush;
    drawn_ = true;
    return;
  }
  const bool improved = state.best && (!reported_best_ || *state.best > *reported_best_);
  if (!improved && state.tried < reported_ + kLineEvery)
    return;
  reported_ = state.tried;
  reported_best_ = state.best;
  out_ << state.kernel << ": " << state.tried << " tried, " << state.verified << " verified";
  if (state.best)
    out_ << ", best " << printed("%.2fx", *state.best);
  out_ << '\n' << std::flush;
}

void Progress::clear() {
  if (drawn_)
    out_ << "\r\x1b[K" << std::flush;
  drawn_ = false;
}

} // namespace warpwright::cli
