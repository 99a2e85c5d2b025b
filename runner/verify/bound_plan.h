// A plan at given sizes and addresses: operations that a device can run as they are.
//
// plan/program.h makes numbers of the plan's expressions; here they get byte addresses and the bytes of kernels' parameters.
// Thread: values, any.
#pragma once

#include "runner/device/device.h"
#include "support/model/task.h"

#include <map>

namespace warpwright::runner {

/// A compiled plan: kernels in the order of plan::kernels_of().
struct CompiledPlan {
  std::unique_ptr<Program> program; ///< null where the plan launches nothing
};

/// Compiles all kernels that the plan launches.
DeviceResult<CompiledPlan> compile_plan(Device &device, const model::Plan &plan);
/// What of it needs no device, so that it is quick then. What does not compile, compile_plan() says.
void compile_ahead(Device &device, const model::Plan &plan);

struct BoundBuffer {
  Address address = 0;
  model::Dtype dtype = model::Dtype::Float32;
  std::uint64_t elements = 0;
};
/// By name: the task's buffers and the plan's temporaries.
using BoundBuffers = std::map<std::string, BoundBuffer>;

/// @param torch the device's; null: operators and module calls are Unsupported. It outlives the operations.
/// @param promote scalars of the task's lesser floating-point types are passed as double (the fp64
/// reference) Faults: BadLaunch, with the expression or shape that is wrong at these sizes.
DeviceResult<std::vector<Operation>>
bind_plan(const model::Plan &plan, const CompiledPlan &compiled, const model::Task &task,
          const symbolic::Sizes &sizes, const BoundBuffers &buffers, TorchHost *torch = nullptr,
          bool promote = false);

/// Starts all operations in order, without waiting; results of torch calls are published.
DeviceResult<void> run(Device &device, const std::vector<Operation> &operations);

} // namespace warpwright::runner
