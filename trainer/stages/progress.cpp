#include "trainer/stages/progress.h"

#include <cmath>
#include <cstdio>
#include <unistd.h>

namespace warpwright::trainer {
namespace {

using Clock = std::chrono::steady_clock;

std::string duration_text(double seconds) {
  const auto whole = std::int64_t(seconds);
  char text[32];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lldh%02lldm", static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole / 60 % 60));
  else
    std::snprintf(text, sizeof text, "%lldm%02llds", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  return text;
}

} // namespace

Progress::Progress(std::string stage, std::string unit, std::int64_t total, bool quiet)
    : stage_(std::move(stage)), unit_(std::move(unit)), total_(total),
      shows_(!quiet && ::isatty(STDERR_FILENO)), started_(Clock::now()) {}

Progress::~Progress() {
  if (shows_ && first_ >= 0)
    std::fputs("\r\033[K", stderr);
}

double Progress::per_second() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return seconds > 0 && first_ >= 0 ? double(last_ - first_) / seconds : 0;
}

void Progress::show(std::int64_t done, const std::string &note) {
  if (first_ < 0)
    first_ = done;
  last_ = done;
  if (!shows_ || (Clock::now() - shown_ < std::chrono::milliseconds(100) && done < total_))
    return;
  shown_ = Clock::now();
  const double rate = per_second();
  const std::string left =
      rate > 0 ? ", " + duration_text(double(total_ - done) / rate) + " left" : "";
  std::fprintf(stderr, "\r\033[K%s %lld of %lld %s, %.3g/s%s %s", stage_.c_str(),
               static_cast<long long>(done), static_cast<long long>(total_), unit_.c_str(), rate,
               left.c_str(), note.c_str());
}

} // namespace warpwright::trainer
