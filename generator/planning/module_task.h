// From what a trace says of a torch module to the task that a runner verifies, and from a device to what templates may count on.
//
// The server and `warpwright env` make the same task of the same trace. Thread: pure functions.
#pragma once

#include "generator/elements/family.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

namespace warpwright::planning {

/// @param name, file as in Task
/// @param buffers as the trace lists them
/// Errors: a graph that is not well formed; a module that gives no tensor.
Result<model::Task> module_task(const std::string &name, const std::string &file,
                                const model::TorchModule &module, const model::Graph &graph,
                                std::vector<model::Buffer> buffers);

/// Bytes that any correct plan moves: every output element written, and every input element read that the graph cannot do without. An input
/// that only a slice or an index reads counts as nothing.
std::int64_t least_bytes(const model::Graph &graph, const std::vector<model::Buffer> &buffers);

/// Errors: as arch::gpu_of().
Result<elements::DeviceFacts> facts_of(const model::DeviceInfo &device);

} // namespace warpwright::planning
