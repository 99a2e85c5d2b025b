// From what a trace says of a torch module to the task that a runner verifies.
//
// Thread: pure functions.
#pragma once

#include "runner/client/client.h"
#include "server/torch/plan_literal.h"

namespace warpwright::server {

struct TorchTask {
  model::Task task;
  model::Graph graph;
  CallPatterns patterns;
};

/// @param name, file as in Task
/// Errors: a module that gives no tensor.
Result<TorchTask> make_torch_task(const std::string &name, const std::string &file,
                                  const model::TorchModule &module, runner::TracedModule traced);

/// Bytes that any correct plan moves: every output element written, and every input element read that the graph cannot do without. An input
/// that only a slice or an index reads counts as nothing.
std::int64_t least_bytes(const model::Graph &graph, const std::vector<model::Buffer> &buffers);

} // namespace warpwright::server
