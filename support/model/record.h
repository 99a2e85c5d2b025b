// What a verdict carries so that anybody can ask for it again: task, plan, options and the seed that was
// used. `warpwright-runner replay` reads it.
//
// It leaves out the runner's host and GPU, which the verdict's device names already.
// Thread: values, any.
#pragma once

#include "support/model/task.h"
#include "support/model/verify_options.h"

namespace warpwright::model {

struct Record {
  Task task;
  Plan plan;
  VerifyOptions options;      ///< as asked for, but with the seed that was used, and without `job`
  std::string runner_version; ///< "0.1.0"
  bool operator==(const Record &) const = default;
};

nlohmann::json to_json(const Record &record);
/// Errors: as task_from_json(), plan_from_json() and verify_options_from_json().
Result<Record> record_from_json(const nlohmann::json &document);

} // namespace warpwright::model
