// Log of a run as JSON lines, one object per event, for reports, TensorBoard files and other programs.
//
// Every line has "event", "stage" and "time" (ISO 8601, UTC), and "step" if it belongs to a step. Events:
//   start      {"config": text, "seed", ..}; sft, selfsup, rl: also {"version", "resumed_from_step", ..}
//   step       sft: {"loss", "accuracy_moves", "tokens_per_s", "learning_rate", "gradient_norm", "validation_loss"}
//              selfsup: {"loss", "accuracy_moves", "proposals", "success"}
//              rl: {"variant", "reward_mean", "reward_std", "success", "speedup_geomean", "kl", "entropy",
//              "clip_share", "loss", "accuracy_analysis", "candidates_per_s", "distinct_share",
//              "techniques": {"vectorize": 12, ..}, ..}
//   proposal   collect, rl (only new bests): {"task", "policy", "moves", "outcome", "speedup", "best_speedup"};
//              rl: also {"reward"}
//   cheat      rl: {"task", "moves", "message"}: suspected, rewarded negatively; stored in cheats.jsonl beside this
//              file
//   adversary  rl: {"case", "family", "honest", "outcome", "reward", "advantage", "rewarded"}: with rl.adversary
//   analysis   eval: {"policy", "faster_accuracy", "faster_count", "faster_chance", "bound_accuracy", "bound_count",
//              "bound_chance", "move_accuracy", "move_count", "move_chance"}
//   best_of_k  eval: {"policy", "k", "geomean", "low", "high", "success", "tasks", "share_of_best", "device",
//              "log_best": [one per task of start's "task_ids"], "share_of_reference", "share_low", "share_high"};
//              on "cpu", scores are no speedups
//   session    eval: {"policy", "task", "scores": [one per trial, 0 if not verified]}
//   reference  eval: {"policy": "random", "k": 256, "geomean", "low", "high", "by_task"}: with eval.reference_trials
//   paired     eval: {"policy", "against", "k", "ratio", "low", "high", "tasks"}: ratio of geometric means,
//              95% interval
//   policy     eval: {"policy", "answers": {"usable": 9, "malformed": 1, ..}, "reasons": {..}, "prompt_tokens",
//              "answer_tokens", "estimated", "requests", "retries", "rate_limited", "failures"}: for language models,
//              once per repeat
//   left_out   collect, eval: {"task", "message"}: a task that cannot be used
//   failed     collect: {"task", "message"}: a lost trial
//   done       collect: {"measured", "verified", "candidates_per_s"}; sft, rl: {"steps", "steps_per_s"};
//              selfsup: {"rounds"}
// Unknown values are absent. A stage that resumes appends to its log. Thread: one.
#pragma once

#include "support/error.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace warpwright::trainer {

class RunLog {
public:
  /// Opens `folder`/log.jsonl to append, and creates it if needed. Errors: the folder cannot be created or written.
  static Result<RunLog> open(const std::string &folder, const std::string &stage);
  /// @param fields an object; `event`, `stage` and `time` are added. Errors: a full disk.
  Result<void> write(const std::string &event, nlohmann::json fields);

private:
  std::string path_, stage_;
  std::ofstream file_;
};

} // namespace warpwright::trainer
