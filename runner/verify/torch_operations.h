// Steps that a worker's torch does, bound to buffers: operators of plans, and the module of a task.
//
// The tensors of a torch task are its buffers, whole; those of an operator are views of buffers. An operator's results have
// buffers like all others, to which a plain run publishes them. Thread: the job thread.
#pragma once

#include "runner/device/torch_host.h"
#include "runner/verify/bound_plan.h"

#include <functional>

namespace warpwright::runner {

/// The whole of a task's buffer.
/// @param dtype of the memory at `bound`, which is not the buffer's for an fp64 run
TensorArgument tensor_of(const model::Buffer &buffer, const BoundBuffer &bound);

/// Buffers of a torch task that `wanted` takes, in the task's order. Every buffer of the task is in `bound`.
std::vector<TensorArgument> tensors_of(const model::Task &task, const BoundBuffers &bound,
                                       const std::function<bool(const model::Buffer &)> &wanted);

/// "this worker has no torch, ...": what every use of it ends in where there is none.
Fault no_torch();

/// @param torch outlives the operation; null: Unsupported
DeviceResult<Operation> bind_operator(TorchHost *torch, const model::AtenStep &step,
                                      const BoundBuffers &buffers);
DeviceResult<Operation> bind_module(TorchHost *torch, const model::ModuleStep &step,
                                    const model::Task &task, const BoundBuffers &buffers);
/// The module in float64 on the task's In and InOut buffers, which stay as they are.
/// @param results by name: the Out and InOut buffers' float64 (or integer) memory
DeviceResult<Operation> bind_exact_module(TorchHost *torch, const model::Task &task,
                                          const BoundBuffers &buffers, const BoundBuffers &results);

/// Call and publish, as a plain run does.
DeviceResult<void> run_torch(TorchHost &torch, const TorchOperation &operation);

} // namespace warpwright::runner
