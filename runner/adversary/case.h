// One case of the adversary suite: a task, a candidate that cheats, is broken or is honest, and what
// the runner must answer.
//
// A case is refused for the right reason when outcome and failing check are one of the pairs that it
// expects; a cheat that is refused by luck (a crash where a wrong result was meant) is a failure of
// the suite. Cases know nothing of clients, devices or JSON (judge.h, command.cpp). Thread: values,
// any.
#pragma once

#include "support/model/task.h"

#include <string>
#include <vector>

namespace warpwright::runner::adversary {

/// A verdict's outcome by its name in JSON, and the check that failed; no check where none did.
struct Expectation {
  std::string outcome, check;
  /// Verified is an answer only while no speedup is credited: the cheat brought nothing.
  bool without_gain = false;
};

/// The service turned the request down before a worker saw it.
inline const Expectation kRejected{"rejected", "request"};
inline const Expectation kUnfit{"wrong_result", "fits the task"};
inline const Expectation kNoCompile{"compile_failed", "compiles"};
inline const Expectation kBadLaunch{"wrong_result", "runs"};
inline const Expectation kCrash{"crash", "runs"};
inline const Expectation kTimeout{"timeout", "runs"};
/// The backend names what it does not have; never the right reason for a cheat it could run.
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
/// Right results and no false speedup: there is nothing to offer.
inline const Expectation kNoGain{"verified", "", true};
inline const Expectation kDegenerate{"verified", "the task is not degenerate", true};
inline const Expectation kVerified{"verified", ""};

/// Where a case runs, and what it must end with there: any of `accepted`.
struct OnDevice {
  std::vector<Expectation> accepted; ///< empty: it does not run on this kind of device
  std::string why_not;               ///< then: a sentence
};
inline OnDevice skip(std::string why_not) { return {{}, std::move(why_not)}; }

struct Case {
  std::string name;   ///< "cache-by-pointer"
  std::string family; ///< what it attacks, families.h
  std::string cheat;  ///< what the candidate does, one sentence
  model::Task task;
  model::Plan candidate;
  OnDevice cpu, gpu;
  int timeout_ms = 60'000;
};

/// A case that must end the same way on both devices.
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

/// Everything but these is a cheat or broken, and must not end in a speedup.
inline bool is_honest(const Case &subject) { return subject.family == "honest"; }

} // namespace warpwright::runner::adversary
