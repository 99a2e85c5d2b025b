// The torch of a worker: holds a task's module, makes its inputs, calls it, and calls single ATen operators.
//
// Two implementations. Where a GPU measures, the worker process is the user's Python interpreter with the runner's worker loaded
// into it as a library (runner/torch/library), so that reference and candidate run on one stream in one context; calls go through
// function pointers that host.py sets. On the CPU backend, whose process holds Clang, torch is a child process and tensors travel
// through shared memory (invariant 7). Addresses are the device's own: GPU addresses there, host pointers here.
// Nothing here decides what is right or how long something took. Thread: the job thread.
#pragma once

#include "runner/device/device.h"
#include "support/model/task.h"

#include <map>
#include <nlohmann/json.hpp>

namespace warpwright::runner {

// TensorArgument, CallHandle and the operation that calls are runner/device/device.h's.

/// What a drawing depends on. Parameters have a seed of their own, so that what does not depend on the inputs can be told.
struct TorchSeeds {
  std::uint64_t inputs = 1, parameters = 1;
  /// Parameters and buffers that the constructor fills with one value (weights of a normalisation) are drawn around it, for a
  /// trained module's differ, and a plan that ignores them is wrong.
  bool vary = true;
  /// The constructor runs on the CPU, as a benchmark's harness runs it, and another system's answer's does: a GPU draws other
  /// values under the same seed.
  bool on_host = false;
};

/// Both ask Python by method names and JSON, which runner/torch/python/module_host.py serves. They differ in how a request gets there
/// and in what an address is.
class TorchHost {
public:
  virtual ~TorchHost() = default;

  /// "torch 2.11.0+cu130, Python 3.12.3".
  virtual std::string version() const = 0;
  /// For verdicts: versions, and the framework's flags as the loaded module leaves them.
  virtual std::map<std::string, std::string> framework() { return {}; }

  /// A job begins: what the one before left in caches may go.
  virtual void start_job() {}
  /// As Device::ran_out_of_memory().
  virtual bool ran_out_of_memory() const { return false; }

  /// Makes the module ready; the one before it is forgotten, unless it is the same.
  /// Faults: Unsupported with what Python said: does not import, no such class, inputs that are no tensors.
  DeviceResult<void> load(const model::TorchModule &module);

  /// Fills the task's In and InOut buffers: inputs drawn under their seed as the module's file draws them, parameters as its
  /// constructor initialises them under theirs. Floating-point inputs (not parameters) are multiplied by `scale`.
  /// @param in_and_inout in the task's order, named
  DeviceResult<void> draw(const TorchSeeds &seeds, double scale,
                          const std::vector<TensorArgument> &in_and_inout);

  /// Binds a call of the module to buffers in the task's order; its parameters alias the buffers, so no call copies them, and state
  /// is updated where it lies.
  /// @param step with a source of its own, it is another system's module that is bound
  /// @param outputs where results are to be published: the task's outputs; with `exact`, float64 and behind them the new state,
  /// in named tensors
  /// @param exact with the module and floating-point inputs in float64 (copies are made at each call, which leaves the buffers
  /// alone; never timed)
  DeviceResult<CallHandle> bind_module(const model::ModuleStep &step,
                                       const std::vector<TensorArgument> &in_and_inout,
                                       const std::vector<TensorArgument> &outputs, bool exact);
  /// @param tensors one for each view among the step's arguments, positional ones first, then the keywords' in their order; then one
  /// a result, of the buffer that it is published to (address 0: of a result that nobody wants)
  DeviceResult<CallHandle> bind_operator(const model::AtenStep &step,
                                         const std::vector<TensorArgument> &tensors);
  /// How many of a task's buffers are inputs of its module; the rest are parameters and state.
  DeviceResult<std::size_t> input_count();
  void forget(CallHandle call);

  /// For a call of the module, before a run whose buffers may have changed since the last: what cannot alias its buffer (an RNN's
  /// weights, which cuDNN wants in one piece) is copied from there, and state that a call put elsewhere is looked for there again.
  /// Outside of every timed bracket.
  DeviceResult<void> refresh(CallHandle call);

  /// Starts the call on the device's stream. Its results are the host's tensors until publish() copies them.
  DeviceResult<void> call(CallHandle call);
  /// Addresses of the results of the last call, after the shapes and strides were found to be as stated.
  virtual DeviceResult<std::vector<Address>> results(CallHandle call);
  /// Copies the results of the last call into the buffers that it was bound to, and so state that it put elsewhere.
  DeviceResult<void> publish(CallHandle call);

protected:
  virtual DeviceResult<nlohmann::json> request(const std::string &method,
                                               const nlohmann::json &parameters) = 0;
  /// Before load() and bind_operator(), with which a job's first request begins.
  virtual DeviceResult<void> make_ready() { return {}; }
  /// What Python is told for an address that is not 0.
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
  /// Of an error's kind in host_errors.py; Internal for any other word.
  static Fault::Kind fault_kind(const std::string &name);
};

} // namespace warpwright::runner
