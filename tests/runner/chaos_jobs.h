// The jobs of the chaos test: real device code for the CPU backend, no two alike, each with one right answer.
#pragma once

#include "support/model/verdict.h"
#include "support/model/verify_options.h"
#include "tests/runner/tasks.h"

namespace warpwright::runner::testing {

inline Task chaos_task() { return square_task(64); }

/// Mostly right; every tenth wrong, now and then one that does not compile, writes where it may not, or does not end.
struct ChaosJob {
  const char *body;
  model::Outcome outcome;
};
inline ChaosJob chaos_job(int number) {
  constexpr ChaosJob kRight{"  if (i < n) y[i] = x[i] * x[i];", model::Outcome::Verified},
      kWrong{"  if (i < n - 1) y[i] = x[i] * x[i];", model::Outcome::WrongResult},
      kBroken{"  if (i < n) y[i] = x[i] * nothing;", model::Outcome::CompileFailed},
      kStray{"  if (i < n) y[i] = x[i] * x[i]; else y[i + (1 << 28)] = 1;", model::Outcome::Crash},
      kEndless{"  while (n) y[0] = x[0];", model::Outcome::Timeout};
  if (number % 200 == 99)
    return kEndless;
  if (number % 25 == 13)
    return kStray;
  if (number % 25 == 5)
    return kBroken;
  return number % 10 == 7 ? kWrong : kRight;
}

inline Plan chaos_plan(int number) {
  return square_candidate(chaos_job(number).body, "// candidate " + std::to_string(number));
}

inline model::VerifyOptions chaos_options(int number, const std::string &key) {
  model::VerifyOptions options;
  options.device = "cpu";
  options.job = key;
  options.measure = false;
  options.timeout = chaos_job(number).outcome == model::Outcome::Timeout ? std::chrono::seconds(3)
                                                                         : std::chrono::minutes(5);
  return options;
}

} // namespace warpwright::runner::testing
