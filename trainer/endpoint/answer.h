// A language model's answer, read strictly: analysis, design, device source and plan, or why it cannot be used.
//
//   ## Performance Analysis      begins with the lines `Faster version: 1|2|none`, `Decisive change: ...`, `Bound: memory|compute|latency`
//   ## Algorithm Design
//   ## Code Implementation       one ```cuda block (device source), one ```json block (the plan without its source), in this order
//
// Each heading once, in this order, at the start of a line. Reasons are written for the model: they go into its next prompt.
// Thread: any.
#pragma once

#include "support/model/task.h"
#include "trainer/policy/policy.h"

#include <variant>

namespace warpwright::trainer {

/// What kind of answer it was, for counts.
enum class AnswerKind {
  Usable,
  Malformed, ///< headings, blocks or lines are missing or too many
  BadPlan,   ///< JSON that is no plan, or one that does not fit the task
  HostCode,  ///< source or plan of a host program
};
const char *name(AnswerKind kind);

struct ParsedAnswer {
  AnswerKind kind = AnswerKind::Malformed;
  std::string refused; ///< why, as one sentence; empty when usable
  Analysis analysis;   ///< also of refused answers, as far as it was read
  std::optional<model::Plan> plan;
};

/// @param versions how many scored versions the prompt showed: with two, `Faster version` must be 1 or 2
ParsedAnswer parse_answer(const std::string &text, const model::Task &task, int versions);

} // namespace warpwright::trainer
