// One case of the adversary suite: a task, a candidate that cheats, is broken or is honest, and the
// expected answer of the runner.
//
// A case passes when the pair of outcome and failed check is one of the expected pairs. A cheat
// that is refused for another reason (a crash instead of a wrong result) fails the suite. Cases do
// not depend on clients, devices or JSON (judge.h, command.cpp). Thread: values, any.
#pragma once

#include "runner/adversary/tasks.h"
#include "support/model/task.h"

#include <string>
#include <vector>

namespace warpwright::runner::adversary {

/// The name of a verdict's outcome in JSON, and the failed check; empty: no failed check.
struct Expectation {
  std::string outcome, check;
  /// Verified is accepted only without a credited speedup, so that the cheat gained nothing.
  bool without_gain = false;
};

/// The service rejected the request before a worker got it.
inline const Expectation kRejected{"rejected", "request"};
inline const Expectation kUnfit{"wrong_result", "fits the task"};
inline const Expectation kNoCompile{"compile_failed", "compiles"};
inline const Expectation kBadLaunch{"wrong_result", "runs"};
inline const Expectation kCrash{"crash", "runs"};
inline const Expectation kTimeout{"timeout", "runs"};
/// The backend lacks a feature; not a valid reason to refuse a cheat that it could run.
inline const Expectation kUnsupported{"unsupported", "runs"};
inline const Expectation kGuards{"suspected_cheat", "guard regions untouched"};
inline const Expectation kInputs{"suspected_cheat", "inputs unchanged"};
inline const Expectation kUnwritten{"wrong_result", "every output element written"};
inline const Expectation kStray{"wrong_result", "nothing else written"};
inline const Expectation kWrong{"wrong_result", "matches the reference"};
inline const Expectation kInaccurate{"wrong_result", "accuracy against fp64"};
inline const Expectation kUnstable{"wrong_result", "same result twice"};
inline const Expectation kHidden{"wrong_result", "sizes that the task does not name"};
inline const Expectation kWide{"wrong_result", "rows of different magnitude"};
inline const Expectation kTimed{"suspected_cheat", "right while timed"};
inline const Expectation kImpossible{"suspected_cheat", "not faster than possible"};
/// Right results and no false speedup.
inline const Expectation kNoGain{"verified", "", true};
inline const Expectation kDegenerate{"verified", "the task is not degenerate", true};
inline const Expectation kVerified{"verified", ""};

/// The accepted answers for a case on one kind of device; any of them passes.
struct OnDevice {
  std::vector<Expectation> accepted; ///< empty: the case does not run on this kind of device
  std::string why_not;               ///< the reason then, one sentence
};
inline OnDevice skip(std::string why_not) { return {{}, std::move(why_not)}; }

struct Case {
  std::string name;   ///< "cache-by-pointer"
  std::string family; ///< what the case attacks; see families.h
  std::string cheat;  ///< what the candidate does, one sentence
  model::Task task;
  model::Plan candidate;
  OnDevice cpu, gpu;
  int timeout_ms = 60'000;
};

/// A case with the same expected answers on both kinds of devices.
inline Case both(const std::string &name, const char *family, const std::string &cheat,
                 model::Task task, model::Plan candidate, std::vector<Expectation> accepted) {
  return {.name = name,
          .family = family,
          .cheat = cheat,
          .task = std::move(task),
          .candidate = std::move(candidate),
          .cpu = {accepted, ""},
          .gpu = {accepted, ""}};
}

/// The same for square_task().
inline Case on_squares(const std::string &name, const char *family, const std::string &cheat,
                       model::Plan candidate, std::vector<Expectation> accepted) {
  return both(name, family, cheat, square_task(), std::move(candidate), std::move(accepted));
}

/// Whether the candidate is honest. All others must not end in a speedup.
inline bool is_honest(const Case &subject) { return subject.family == "honest"; }

} // namespace warpwright::runner::adversary
