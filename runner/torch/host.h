// The torch of a worker: holds a task's module, makes its inputs, calls it, and calls single ATen operators.
//
// Two implementations. Where a GPU measures, the worker process is the user's Python interpreter with the runner's worker loaded
// into it as a library (runner/torch/library), so that reference and candidate run on one stream in one context; calls go through
// function pointers that host.py sets. On the CPU backend, whose process holds Clang, torch is a child process and tensors travel
// through shared memory (invariant 7). Addresses are the device's own: GPU addresses there, host pointers here.
// Nothing here decides what is right or how long something took. Thread: the job thread.
#pragma once

#include "runner/verify/device.h"
#include "support/model/task.h"

#include <nlohmann/json.hpp>

namespace warpwright::runner {

// TensorArgument, CallHandle and the operation that calls are runner/verify/device.h's.

class TorchHost {
public:
  virtual ~TorchHost() = default;

  /// "torch 2.11.0+cu130, Python 3.12.3".
  virtual std::string version() const = 0;

  /// Makes the module ready; the one before it is forgotten, unless it is the same.
  /// Faults: Unsupported with what Python said: does not import, no such class, inputs that are no tensors.
  virtual DeviceResult<void> load(const model::TorchModule &module) = 0;

  /// Fills the task's In and InOut buffers: inputs drawn under the seed as the module's file draws them, parameters as its constructor
  /// initialises them under that seed. Floating-point inputs (not parameters) are multiplied by `scale`.
  virtual DeviceResult<void> draw(std::uint64_t seed, double scale,
                                  const std::vector<TensorArgument> &in_and_inout) = 0;

  /// Binds a call of the module to buffers in the task's order; its parameters alias the buffers, so no call copies them.
  /// @param outputs where results are to be published
  /// @param exact with the module and floating-point inputs in float64 (copies are made at each call; never timed)
  virtual DeviceResult<CallHandle> bind_module(const model::ModuleStep &step,
                                               const std::vector<TensorArgument> &in_and_inout,
                                               const std::vector<TensorArgument> &outputs,
                                               bool exact) = 0;
  virtual DeviceResult<CallHandle> bind_operator(const model::AtenStep &step,
                                                 const std::vector<TensorArgument> &tensors) = 0;
  virtual void forget(CallHandle call) = 0;

  /// Starts the call on the device's stream. Its results are the host's tensors until publish() copies them.
  virtual DeviceResult<void> call(CallHandle call) = 0;
  /// Addresses of the results of the last call, after the shapes and strides were found to be as stated.
  virtual DeviceResult<std::vector<Address>> results(CallHandle call) = 0;
  /// Copies the results of the last call into the buffers that it was bound to.
  virtual DeviceResult<void> publish(CallHandle call) = 0;
};

} // namespace warpwright::runner
