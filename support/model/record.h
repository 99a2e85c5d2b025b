// Record in a verdict that allows anybody to repeat the verification: task, plan, options and the
// used seed. `warpwright-runner replay` reads records.
//
// The record leaves out the runner's host and GPU, which the verdict's device names. Thread:
// values, any.
#pragma once

#include "support/model/task.h"
#include "support/model/verify_options.h"

namespace warpwright::model {

struct Record {
  Task task;
  Plan plan;
  VerifyOptions options;      ///< as requested, but with the used seed and without `job`
  std::string runner_version; ///< "0.1.0"
  bool operator==(const Record &) const = default;
};

nlohmann::json to_json(const Record &record);
/// Errors: as task_from_json(), plan_from_json() and verify_options_from_json().
Result<Record> record_from_json(const nlohmann::json &document);

} // namespace warpwright::model
