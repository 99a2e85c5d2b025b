// Reader of the logs of a run's stages (stages/run_log.h), for pages and event files.
//
// An unreadable line is counted and reported but is no error, because a killed process may leave half of its last line.
// If a stage resumed, its steps replace earlier ones after the checkpoint. Values that a log does not have stay absent.
// Thread: values, any.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct StepPoint {
  std::int64_t step = 0;
  std::int64_t time_s = 0;                  ///< since 1970, UTC
  std::map<std::string, double> values;     ///< "reward_mean", "loss", ...
  std::map<std::string, double> techniques; ///< counts of moves in this step's faster candidates
};

/// One stage of one run folder.
struct StageLog {
  std::string folder, stage, variant; ///< variant: of rl; else empty
  std::string label;  ///< "rl contrastive", with the folder if several stages have that label
  std::string config; ///< configuration of the last start
  std::vector<StepPoint> steps;  ///< ascending
  std::optional<double> seconds; ///< from the event "done"
  int starts = 0;
};

struct BestOfK {
  std::string run, policy, device;
  int k = 0;
  double geomean = 0;
  std::optional<double> low, high, success, share_of_best;
  int tasks = 0;
};

struct PairedRatio {
  std::string run, policy, against;
  int k = 0, tasks = 0;
  double ratio = 0, low = 0, high = 0;
};

/// Accuracy of a policy's analyses, and the accuracy of guessing.
struct AnalysisAccuracy {
  struct Question {
    std::optional<double> accuracy, chance;
    int count = 0;
  };
  std::string run, policy;
  Question faster, bound, move;
};

struct TaskBest {
  std::string task;
  std::map<std::string, double> best; ///< by policy; by stage if the log names no policy
  int proposals = 0, verified = 0;
};

struct CheatEntry {
  std::string run, task, moves, message;
};

/// Answers and cost of a language model, over all repeats of an evaluation.
struct PolicyAccount {
  std::string run, policy;
  std::map<std::string, int> answers; ///< by kind: "usable", "malformed", ...
  std::map<std::string, int> reasons; ///< of refusals
  double prompt_tokens = 0, answer_tokens = 0, requests = 0, retries = 0, rate_limited = 0;
  bool estimated = false; ///< some token counts are estimates
};

struct TrainingLog {
  std::vector<StageLog> stages;
  std::vector<BestOfK> best_of_k;
  std::vector<PairedRatio> paired;
  std::vector<AnalysisAccuracy> analysis;
  std::vector<PolicyAccount> accounts;
  std::vector<TaskBest> tasks; ///< by name
  std::vector<CheatEntry> cheats;
  std::map<std::string, int> outcomes; ///< of all proposals
  int timed = 0;                       ///< proposals with a measured speedup
  int lines = 0, unreadable = 0;
};

/// @param folders each with a log.jsonl. Errors: a folder without a log; no readable line in any log.
Result<TrainingLog> read_training_logs(const std::vector<std::string> &folders);

/// Seconds since 1970 of a time such as "2026-01-02T03:04:05Z"; 0 for other text.
std::int64_t seconds_of(const std::string &time);

} // namespace warpwright::trainer
