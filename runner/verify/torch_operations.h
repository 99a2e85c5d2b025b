// Operations of a worker's torch bound to buffers: operators of plans, and the module of a task.
//
// A torch task's tensors are its whole buffers; an operator's tensors are views of buffers. A plain run publishes an
// operator's results to their buffers. Thread: the job thread.
#pragma once

#include "runner/device/torch_host.h"
#include "runner/verify/bound_plan.h"

#include <functional>

namespace warpwright::runner {

/// Tensor of a task's whole buffer.
/// @param dtype of the memory at `bound`; differs from the buffer's in an fp64 run
TensorArgument tensor_of(const model::Buffer &buffer, const BoundBuffer &bound);

/// Tensors of a torch task's buffers that `wanted` accepts, in the task's order. `bound` holds every buffer of the
/// task.
std::vector<TensorArgument> tensors_of(const model::Task &task, const BoundBuffers &bound,
                                       const std::function<bool(const model::Buffer &)> &wanted);

/// Fault for any use of torch in a worker without it: "this worker has no torch, ...".
Fault no_torch();

/// @param torch outlives the operation; null: the result is Unsupported
DeviceResult<Operation> bind_operator(TorchHost *torch, const model::AtenStep &step,
                                      const BoundBuffers &buffers);
DeviceResult<Operation> bind_module(TorchHost *torch, const model::ModuleStep &step,
                                    const model::Task &task, const BoundBuffers &buffers);
/// The module in float64 on the task's In and InOut buffers, which it leaves unchanged.
/// @param results by name: the Out and InOut buffers' float64 (or integer) memory
DeviceResult<Operation> bind_exact_module(TorchHost *torch, const model::Task &task,
                                          const BoundBuffers &buffers, const BoundBuffers &results);

/// Calls the operation and publishes its results, as a plain run does.
DeviceResult<void> run_torch(TorchHost &torch, const TorchOperation &operation);

} // namespace warpwright::runner
