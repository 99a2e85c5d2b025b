// Answers of clients, as both protocols carry them. Thread: values, any.
//
//   {"kind": "text", "text": ".."}     a language model's answer: three sections
//                                      (trainer/endpoint/answer.h), or, in an episode of moves, a
//                                      JSON object {"moves": [..]} anywhere in the text
//   {"kind": "plan", "plan": {..}}     a plan (support/model/schemas)
//   {"kind": "moves", "moves": [..]}   moves, each legal after those before it
//   {"kind": "module", "source": "..", "model": "ModelNew"}   host code, where the service allows it
// Each may have "metadata": {"request_id": text, "usage": {..}}.
#pragma once

#include "support/error.h"
#include "trainer/records/record.h"

#include <nlohmann/json.hpp>
#include <variant>

namespace warpwright::trainer {

struct TextAnswer {
  std::string text;
};
struct PlanAnswer {
  nlohmann::json plan; ///< not checked yet
};
struct MovesAnswer {
  Moves moves;
};
/// Another system's module for the task's module.
struct ModuleAnswer {
  std::string source, model;
};

struct Action {
  std::variant<TextAnswer, PlanAnswer, MovesAnswer, ModuleAnswer> answer;
  std::string request_id; ///< the client's own name; a step that is sent twice is made once; may be empty
  nlohmann::json usage;   ///< tokens and the like, for the log; null: not told
};

/// Errors: a member that is missing, unknown or of another type, by its name.
Result<Action> action_from_json(const nlohmann::json &document);
nlohmann::json to_json(const Action &action);

/// What the model wrote, for a conversation: the text, else the action as JSON.
std::string content_of(const Action &action);

} // namespace warpwright::trainer
