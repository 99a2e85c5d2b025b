// Conversion of a traced torch module into the task that a runner verifies.
#pragma once

#include "runner/connect/connect.h"
#include "server/export/plan_literal.h"

namespace warpwright::server {

struct TorchTask {
  model::Task task;
  model::Graph graph;
  CallPatterns patterns;
};

/// @param name, file as in Task
/// Errors: the module returns no tensor.
Result<TorchTask> make_torch_task(const std::string &name, const std::string &file,
                                  const model::TorchModule &module, runner::TracedModule traced);

} // namespace warpwright::server
