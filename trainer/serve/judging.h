// One answer of a client, judged: decoded, checked against its task, and measured. Thread: any;
// calls block.
#pragma once

#include "trainer/serve/action.h"
#include "trainer/serve/place.h"

namespace warpwright::trainer {

/// Why an answer was not given to the runner; its author's fault.
struct Refusal {
  std::string kind;   ///< "malformed", "bad_plan", "host_code", "illegal_moves"
  std::string reason; ///< one sentence
};

struct Judged {
  std::optional<Refusal> refused;
  std::optional<Measured> measured;      ///< absent: nothing was measured
  std::optional<model::Verdict> verdict; ///< the whole one; absent for moves, whose verdicts are recorded
  std::optional<Error> lost;             ///< the environment's fault: the answer may be given again
  Moves moves;
  std::optional<model::Plan> plan;
};

struct JudgedTask {
  const TrainingTask &task;
  const model::Task &definition;
  int shown = 0;            ///< scored versions in the prompt, which an answer's analysis may name
  bool moves_in_text = false; ///< a text answers with moves
};

Judged judge(const JudgedTask &task, const Action &action, const Place &place);

} // namespace warpwright::trainer
