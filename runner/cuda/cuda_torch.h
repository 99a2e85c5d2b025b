// The torch of a worker whose process is a Python interpreter, as the CUDA device needs it beyond TorchHost: one stream, graphs
// captured by torch itself (its allocator then gives a capture memory of its own), and calls timed from Python.
//
// Everything torch starts goes to the stream of use_stream(). Thread: the job thread.
#pragma once

#include "runner/device/torch_host.h"

#include <chrono>

namespace warpwright::runner::cuda {

/// One operation of a candidate's call from Python: launches and fills between two torch calls are one group, started by the
/// executor at once.
struct CallStep {
  std::int64_t group = -1; ///< of the executor; -1: a torch call
  CallHandle call = 0;
};

/// A time that another process took, by the same timer on the same GPU.
struct ForeignSample {
  double ns = 0;
  bool throttled = false;
};

/// How the call from Python goes. Empty steps: the module itself is called.
struct CallProgram {
  CallHandle module = 0; ///< the reference's call
  std::vector<CallStep> steps;
  std::int64_t executor = 0; ///< handle that the executor's C function takes
  CallFrame frame;
};

class CudaTorch : public TorchHost {
public:
  /// Once, before anything else.
  virtual DeviceResult<void> use_stream(int ordinal, std::uint64_t stream) = 0;
  /// Gives memory that torch keeps for later back to the driver. @return whether there was a chance of any
  virtual bool release_memory() = 0;

  /// Between these two, call() keeps results where torch made them: a call bound to a place among another's published results is
  /// given that call's result itself.
  virtual DeviceResult<void> begin_unpublished() = 0;
  virtual DeviceResult<void> end_unpublished() = 0;

  virtual DeviceResult<std::int64_t> begin_capture() = 0;
  /// @param keep false: something failed between, and the graph is dropped. Faults: what torch said.
  virtual DeviceResult<void> end_capture(std::int64_t graph, bool keep) = 0;
  virtual DeviceResult<void> replay(std::int64_t graph) = 0;
  /// Copies the results of the graph's calls into the buffers that they were bound to.
  virtual DeviceResult<void> publish_graph(std::int64_t graph) = 0;
  virtual void forget_graph(std::int64_t graph) = 0;

  virtual DeviceResult<std::int64_t> make_call(const CallProgram &program) = 0;
  /// Host time in ns of one call, until the stream is idle. Faults: Timeout, after which the device is lost.
  virtual DeviceResult<double> time_call(std::int64_t call, std::chrono::nanoseconds limit) = 0;
  /// The next time_call() makes this call, too, a few times right before its clock; what it returns is dropped.
  virtual DeviceResult<void> warm_call(std::int64_t call) = 0;
  /// Copies what the last timed call returned into the buffers of its frame.
  virtual DeviceResult<void> publish_call(std::int64_t call) = 0;
  virtual void forget_call(std::int64_t call) = 0;

  /// Of a call of another system's module, in the process that holds it. @return why it has no device time; empty: it has
  virtual DeviceResult<std::string> record_candidate(CallHandle call) = 0;
  /// One timed run of it on what its buffers hold now, and its results in the buffers that it was bound to.
  virtual DeviceResult<ForeignSample> time_candidate(CallHandle call, bool as_called) = 0;
};

} // namespace warpwright::runner::cuda
