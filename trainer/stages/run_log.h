// The log of a run as JSON lines, one object an event, for reports, TensorBoard files and machines.
//
// Every line has "event", "stage" and "time" (ISO 8601, UTC), and "step" where it belongs to one. Events:
//   start      {"config": {..}, "version": .., "seed": .., "resumed_from_step": n}
//   step       sft, selfsup: {"loss", "accuracy_moves", "accuracy_analysis", "tokens_per_s", "learning_rate"}
//              rl: {"variant", "reward_mean", "reward_std", "success", "speedup_geomean", "kl", "entropy", "clip_share", "loss",
//              "candidates_per_s", "distinct_share", "techniques": {"vectorize": 12, ..}}
//   proposal   rl, eval: {"task", "policy", "moves", "outcome", "speedup", "reward", "best_speedup"}
//   cheat      {"task", "moves", "message"}: suspected, stored in cheats.jsonl beside this file, rewarded negatively
//   adversary  rl: {"case", "family", "honest", "outcome", "reward", "advantage", "rewarded"}: rl.adversary
//   analysis   eval: {"policy", "faster_accuracy", "faster_count", "faster_chance", "bound_accuracy", "bound_count", "bound_chance",
//              "move_accuracy", "move_count", "move_chance"}
//   best_of_k  eval: {"policy", "k", "geomean", "low", "high", "success", "tasks", "share_of_best", "device",
//              "log_best": [a task of start's "task_ids"], "share_of_reference", "share_low", "share_high"}: of "cpu", scores are no speedups
//   session    eval: {"policy", "task", "scores": [a trial, 0 where nothing was verified]}
//   reference  eval: {"policy": "random", "k": 256, "geomean", "low", "high", "by_task"}: eval.reference_trials
//   paired     eval: {"policy", "against", "k", "ratio", "low", "high", "tasks"}: ratio of geometric means, 95% interval
//   policy     eval: {"policy", "answers": {"usable": 9, "malformed": 1, ..}, "reasons": {..}, "prompt_tokens", "answer_tokens",
//              "estimated", "requests", "retries", "rate_limited", "failures"}: of language models, once a repeat
//   done       {"seconds", ..}
// Values that are not known are absent. A stage that resumes appends to its log. Thread: one.
#pragma once

#include "support/error.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace warpwright::trainer {

class RunLog {
public:
  /// Appends to `folder`/log.jsonl, which it makes. Errors: the folder cannot be made or written.
  static Result<RunLog> open(const std::string &folder, const std::string &stage);
  /// @param fields an object; `event`, `stage` and `time` are added. Errors: a full disk.
  Result<void> write(const std::string &event, nlohmann::json fields);

private:
  std::string path_, stage_;
  std::ofstream file_;
};

} // namespace warpwright::trainer
