#include "runner/service/stage_clock.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

namespace warpwright::runner {
namespace {

double seconds_between(std::chrono::steady_clock::time_point from,
                       std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

} // namespace

void StageClock::add_activity(Clock::time_point now) {
  if (!stage_.empty())
    seconds_[waiting_ ? "waiting" : activity_] += seconds_between(activity_start_, now);
  activity_start_ = now;
}

void StageClock::enter(const std::string &stage, const std::string &activity) {
  const auto now = Clock::now();
  add_activity(now);
  activity_ = activity.substr(0, activity.find(" at "));
  if (stage == stage_)
    return;
  if (!stage_.empty())
    on_stage_ended_(stage_, seconds_between(stage_start_, now));
  stage_ = stage;
  stage_start_ = now;
}

void StageClock::wait(bool waiting) {
  add_activity(Clock::now());
  waiting_ = waiting;
}

std::string StageClock::leave() {
  enter("", "");
  waiting_ = false;
  std::vector<std::pair<double, std::string>> order;
  for (const auto &[activity, seconds] : std::exchange(seconds_, {}))
    order.emplace_back(seconds, activity);
  std::ranges::sort(order, std::greater());
  std::string text;
  for (const auto &[seconds, activity] : order) {
    char number[32];
    std::snprintf(number, sizeof number, " %.3f", seconds);
    text += (text.empty() ? "" : ", ") + activity + number;
  }
  return text;
}

} // namespace warpwright::runner
