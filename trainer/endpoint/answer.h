// Strict parser of a language model's answer: analysis, design, device source and plan, or the
// reason for a refusal.
//
//   ## Performance Analysis      has the lines `Faster version: 1|2|none`, `Decisive change: ...`,
//                                `Bound: memory|compute|latency`
//   ## Algorithm Design
//   ## Code Implementation       one ```cuda block (device source), then one ```json block (the plan without its
//                                source)
//
// Instead of a plan, the JSON of an answer about a module's plan (PlanView) may have
//   {"moves": ["family(region=0,name=rows)", ...],
//    "regions": [{"region": "softmax", "steps": [...], "temporaries": [...]}, ...]}
// with either member or both. The steps launch kernels of the source over the region's buffers.
// Without regions, the answer may omit the ```cuda block.
//
// An answer that is one JSON object has the same parts as members, as answer_schema() says. Each
// heading must appear once, in this order, at the start of a line. Reasons are written for the
// model, because they go into its next prompt. Thread: any.
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
  Moves moves;                                ///< instead of a plan
  std::map<std::string, model::Plan> regions; ///< Proposal::regions
};

/// JSON schema of an answer as one object: {"analysis": {"faster", "decisive", "bound", "text"},
/// "design", "source", "plan"}.
nlohmann::json answer_schema();

/// @param versions number of scored versions in the prompt; with two, `Faster version` must be 1 or 2
/// @param changes_plan the prompt showed a plan, which moves and regions may change
ParsedAnswer parse_answer(const std::string &text, const model::Task &task, int versions,
                          bool changes_plan = false);

} // namespace warpwright::trainer
