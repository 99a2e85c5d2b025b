// The torch of a worker: holds a task's module, makes its inputs, and calls it and single ATen
// operators.
//
// There are two implementations. In a worker that measures on a GPU, the process is the user's
// Python interpreter with the runner's worker loaded as a library (runner/torch/library), so that
// reference and candidate run on one stream in one context; calls use function pointers that
// host.py sets. On the CPU backend, whose process contains Clang, torch is a child process, and
// tensors are in shared memory (invariant 7). Addresses are the device's: GPU addresses or host
// pointers.
// This interface judges no results and measures no time. Thread: the job thread.
#pragma once

#include "runner/device/device.h"
#include "support/model/task.h"

#include <map>
#include <nlohmann/json.hpp>

namespace warpwright::runner {

// runner/device/device.h defines TensorArgument, CallHandle and TorchOperation.

/// Seeds and options of a drawing. Parameters have their own seed, so that values that do not
/// depend on the inputs can be detected.
struct TorchSeeds {
  std::uint64_t inputs = 1, parameters = 1;
  /// Whether parameters and buffers that the constructor fills with one value (such as weights of a
  /// normalization) are drawn around it. A trained module's values differ, and a plan that ignores
  /// them is wrong.
  bool vary = true;
  /// Whether the constructor runs on the CPU, as in a benchmark's harness and in another system's
  /// answer. A GPU draws different values with the same seed.
  bool on_host = false;
};

/// Calls of an export: those that its kernels answered, and those that the module's own forward
/// answered, by reason.
struct KernelCalls {
  std::int64_t runs = 0;
  std::map<std::string, std::int64_t> fallbacks;
};

/// Sends requests to Python with method names and JSON, served by
/// runner/torch/python/module_host.py. The implementations differ in the transport and in the
/// meaning of addresses.
class TorchHost {
public:
  virtual ~TorchHost() = default;

  /// "torch 2.11.0+cu130, Python 3.12.3".
  virtual std::string version() const = 0;
  /// Values for verdicts: versions, and the framework's flags as the loaded module leaves them.
  virtual std::map<std::string, std::string> framework() { return {}; }

  /// Called when a job begins; may drop caches of earlier jobs.
  virtual void start_job() {}
  /// Same as Device::ran_out_of_memory().
  virtual bool ran_out_of_memory() const { return false; }

  /// Loads the module and forgets the previous one, unless it is the same.
  /// Faults: Unsupported with Python's message: import fails, no such class, inputs that are not
  /// tensors.
  DeviceResult<void> load(const model::TorchModule &module);

  /// Fills the task's In and InOut buffers. Inputs are drawn with their seed by the module's file,
  /// parameters with theirs by the module's constructor. Floating-point inputs (not parameters) are
  /// multiplied by `scale`.
  /// @param in_and_inout in the task's order, named
  DeviceResult<void> draw(const TorchSeeds &seeds, double scale,
                          const std::vector<TensorArgument> &in_and_inout);

  /// Binds a call of the module to buffers in the task's order. The module's parameters alias the
  /// buffers, so no call copies them, and state is updated in place.
  /// @param step if it has its own source, another system's module is bound
  /// @param outputs buffers for the results: the task's outputs; with `exact`, float64, followed by
  /// the new state in named tensors
  /// @param exact uses float64 for the module and floating-point inputs (with copies at each call,
  /// so that the buffers do not change; never timed)
  DeviceResult<CallHandle> bind_module(const model::ModuleStep &step,
                                       const std::vector<TensorArgument> &in_and_inout,
                                       const std::vector<TensorArgument> &outputs, bool exact);
  /// Binds a call of an ATen operator.
  /// @param tensors one for each view among the step's arguments, positional arguments first, then
  /// keywords in their order; then one for each result, in the buffer to publish to (address 0:
  /// result not needed)
  DeviceResult<CallHandle> bind_operator(const model::AtenStep &step,
                                         const std::vector<TensorArgument> &tensors);
  /// Calls of the bound export so far, and one more on inputs as the task's file makes them.
  DeviceResult<KernelCalls> kernel_calls();
  /// Number of the task's buffers that are inputs of its module; the rest are parameters and state.
  DeviceResult<std::size_t> input_count();
  void forget(CallHandle call);

  /// Prepares a call of the module before a run whose buffers may have changed since the last one.
  /// Copies values that cannot alias their buffer (an RNN's weights, which cuDNN needs in one
  /// piece), and reads state again that a call moved elsewhere. Never called inside a timed
  /// interval.
  DeviceResult<void> refresh(CallHandle call);

  /// Starts the call on the device's stream. Its results are the host's tensors until publish()
  /// copies them.
  DeviceResult<void> call(CallHandle call);
  /// Addresses of the last call's results, after a check of their shapes and strides.
  virtual DeviceResult<std::vector<Address>> results(CallHandle call);
  /// Copies the last call's results, and state that it moved elsewhere, into the bound buffers.
  DeviceResult<void> publish(CallHandle call);

protected:
  virtual DeviceResult<nlohmann::json> request(const std::string &method,
                                               const nlohmann::json &parameters) = 0;
  /// Called before load() and bind_operator(), one of which is a job's first request.
  virtual DeviceResult<void> make_ready() { return {}; }
  /// The value that Python gets for an address other than 0.
  virtual std::uint64_t place_of(Address address) const { return address; }

  DeviceResult<void> order(const std::string &method,
                           const nlohmann::json &parameters = nlohmann::json::object());
  template <class T>
  DeviceResult<T> ask(const std::string &method,
                      const nlohmann::json &parameters = nlohmann::json::object()) {
    const auto answer = TRY(request(method, parameters));
    return answer.template get<T>();
  }
  nlohmann::json tensors(const std::vector<TensorArgument> &all) const;
  /// The fault for an error kind of host_errors.py; Internal for unknown names.
  static Fault::Kind fault_kind(const std::string &name);
};

} // namespace warpwright::runner
