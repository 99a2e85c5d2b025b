// The logs of a run's stages as data: what stages/run_log.h wrote, read back for pages and event files.
//
// A line that cannot be read is counted and shown, not fatal: a process that was killed may leave half of its last one. Where a stage
// resumed, steps after the checkpoint it went on from are those of the resumed run. What a log does not say stays absent.
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
  std::map<std::string, double> techniques; ///< moves by name: how often in this step's proposals
};

/// One stage of one run folder.
struct StageLog {
  std::string folder, stage, variant; ///< variant: of rl; else empty
  std::string label;  ///< unique among all: "rl contrastive", with the folder where that is needed
  std::string config; ///< as it was printed at the last start
  std::vector<StepPoint> steps;  ///< ascending
  std::optional<double> seconds; ///< when it is done
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

/// How often the analysis was right, beside what guessing gives.
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
  std::map<std::string, double> best; ///< by label of the stage, or policy of an evaluation
  int proposals = 0, verified = 0;
};

struct CheatEntry {
  std::string run, task, moves, message;
};

/// What a language model answered and cost, over all repeats of an evaluation.
struct PolicyAccount {
  std::string run, policy;
  std::map<std::string, int> answers; ///< by kind: "usable", "malformed", ...
  std::map<std::string, int> reasons; ///< of refusals
  double prompt_tokens = 0, answer_tokens = 0, requests = 0, retries = 0, rate_limited = 0;
  bool estimated = false; ///< some of the tokens
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

/// @param folders each with a log.jsonl. Errors: one that has none; no readable line in any.
Result<TrainingLog> read_training_logs(const std::vector<std::string> &folders);

/// Seconds since 1970 of "2026-01-02T03:04:05Z"; 0 where it is no such text.
std::int64_t seconds_of(const std::string &time);

} // namespace warpwright::trainer
