// Strict parser of a language model's answer: analysis, design, device source and plan, or the reason for a refusal.
//
//   ## Performance Analysis      has the lines `Faster version: 1|2|none`, `Decisive change: ...`,
//                                `Bound: memory|compute|latency`
//   ## Algorithm Design
//   ## Code Implementation       one ```cuda block (device source), then one ```json block (the plan without its
//                                source)
//
// An answer that is one JSON object has the same parts as members, as answer_schema() says.
// Each heading must appear once, in this order, at the start of a line. Reasons are written for the model, because they
// go into its next prompt. Thread: any.
#pragma once

#include "support/model/task.h"
#include "trainer/policy/policy.h"

#include <variant>

namespace warpwright::trainer {

/// Kind of an answer, for counts.
enum class AnswerKind {
  Usable,
  Malformed, ///< headings, blocks or lines are missing or too many
  BadPlan,   ///< the JSON is no plan, or the plan does not fit the task
  HostCode,  ///< source or plan needs host code
};
const char *name(AnswerKind kind);

struct ParsedAnswer {
  AnswerKind kind = AnswerKind::Malformed;
  std::string refused; ///< reason as one sentence; empty if usable
  Analysis analysis;   ///< as far as it could be read, also of refused answers
  std::optional<model::Plan> plan;
};

/// JSON schema of an answer as one object: {"analysis": {"faster", "decisive", "bound", "text"},
/// "design", "source", "plan"}.
nlohmann::json answer_schema();

/// @param versions number of scored versions in the prompt; with two, `Faster version` must be 1 or 2
ParsedAnswer parse_answer(const std::string &text, const model::Task &task, int versions);

} // namespace warpwright::trainer
