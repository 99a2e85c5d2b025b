// Report on a ranker by replays: shares of the best recorded speedup beside search, table and
// learned policies, on held-out tasks and with each family left out; agreement of the order;
// whether intervals hold. Thread: any.
#pragma once

#include "trainer/ranker/replay.h"
#include "trainer/ranker/train_ranker.h"

#include <nlohmann/json.hpp>

namespace warpwright::trainer {

/// Scores of a policy's sessions by task, as `eval` logged them.
using Sessions = std::map<std::string, std::map<std::string, std::vector<std::vector<double>>>>;
/// Reads the sessions of a log (stages/run_log.h), packed or not. Errors: as unpacking; an invalid
/// line.
Result<Sessions> read_sessions(const std::string &path);

struct ReportInput {
  const std::vector<RankedTask> &tasks;
  const Ranker &ranker;   ///< trained on the training split alone
  const MoveTable &table; ///< of the same tasks
  const std::set<std::string> &templates;
  const Sessions &sessions; ///< empty: the sets and rows of live runs are left out
  RankerTraining training;  ///< of the rankers with a family left out
};

/// Replays of some tasks: policies, ratios, agreement, calibration.
/// @param rows further replays of these tasks, such as those of live sessions
nlohmann::json replay_set(const ReportInput &input, const std::vector<const RankedTask *> &tasks,
                          std::vector<Replay> rows = {});
/// How many candidates lie inside their intervals, and errors by width of the interval.
nlohmann::json calibration(const Ranker &ranker, const std::vector<const RankedTask *> &tasks);

/// Everything as one document, without dates, so that a repetition is equal.
nlohmann::json replay_report(const ReportInput &input);
/// The document as Markdown tables.
std::string shown_report(const nlohmann::json &report);

} // namespace warpwright::trainer
