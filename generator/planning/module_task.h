// Tasks that a runner verifies, made from traces of torch modules, and facts that templates may rely on, made from
// devices. The server and `warpwright env` make the same task of the same trace.
#pragma once

#include "generator/elements/family.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

namespace warpwright::planning {

/// @param name, file as in Task
/// @param buffers as the trace lists them
/// Errors: a graph that is not well formed; a module that returns no tensor.
Result<model::Task> module_task(const std::string &name, const std::string &file,
                                const model::TorchModule &module, const model::Graph &graph,
                                std::vector<model::Buffer> buffers);

/// Returns the bytes that any correct plan moves: every output element written, and every input element read that the
/// graph needs. An input that only a slice or an index reads counts as nothing.
std::int64_t least_bytes(const model::Graph &graph, const std::vector<model::Buffer> &buffers);

/// Returns what templates may rely on for a device. Errors: as arch::gpu_of().
Result<elements::DeviceFacts> facts_of(const model::DeviceInfo &device);

} // namespace warpwright::planning
