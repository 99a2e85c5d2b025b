// Plan bound to sizes and addresses: operations that a device can run without further work.
//
// plan/program.h evaluates the plan's expressions; this file adds byte addresses and encodes kernel parameters.
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
/// Compiles the part that needs no device, so that compile_plan() is quick later; compile_plan() reports errors.
void compile_ahead(Device &device, const model::Plan &plan);

struct BoundBuffer {
  Address address = 0;
  model::Dtype dtype = model::Dtype::Float32;
  std::uint64_t elements = 0;
};
/// The task's buffers and the plan's temporaries, by name.
using BoundBuffers = std::map<std::string, BoundBuffer>;

/// @param torch the device's, outlives the operations; null: operators and module calls are Unsupported
/// @param promote scalars of narrower floating-point types than double are passed as double (fp64 reference)
/// Faults: BadLaunch, with the expression or shape that is wrong at these sizes.
DeviceResult<std::vector<Operation>>
bind_plan(const model::Plan &plan, const CompiledPlan &compiled, const model::Task &task,
          const symbolic::Sizes &sizes, const BoundBuffers &buffers, TorchHost *torch = nullptr,
          bool promote = false);

/// Starts all operations in order without waiting; publishes the results of torch calls.
DeviceResult<void> run(Device &device, const std::vector<Operation> &operations);

} // namespace warpwright::runner
