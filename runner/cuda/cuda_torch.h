// TorchHost of a worker whose process is a Python interpreter. CudaTorch adds the functions that
// the CUDA device needs: a common stream, graphs captured by torch (its allocator then gives each
// capture its own memory), and calls timed from Python. Requests go to the interpreter of this
// process through the callbacks that host.py sets.
//
// All work that torch starts goes to the stream of use_stream(). Thread: the job thread.
#pragma once

#include "runner/device/torch_host.h"

#include <chrono>

namespace warpwright::runner::cuda {

/// One step of a candidate's call from Python: either a torch call, or a group of the launches and
/// fills between two torch calls, which the executor starts together.
struct CallStep {
  std::int64_t group = -1; ///< number of the executor's group; -1: a torch call
  CallHandle call = 0;
};

/// A time measured in another process with the same timer on the same GPU.
struct ForeignSample {
  double ns = 0;
  bool throttled = false;
};

/// Description of a call from Python. If `steps` is empty, the call runs the module itself.
struct CallProgram {
  CallHandle module = 0; ///< the reference's call
  std::vector<CallStep> steps;
  std::int64_t executor = 0; ///< handle for the executor's C function
  CallFrame frame;
};

class CudaTorch final : public TorchHost {
public:
  /// Same type as warpwright_callbacks::request in runner/torch/library/worker_library.h.
  using Request = std::int32_t (*)(const char *method, const char *parameters);
  /// Errors: torch cannot be used, with Python's message.
  static Result<std::unique_ptr<CudaTorch>> make(Request request);

  /// Sets the answer to the current request.
  static void take_answer(const char *text, std::size_t size);

  std::string version() const override { return facts_.value("version", ""); }
  std::map<std::string, std::string> framework() override;
  void start_job() override;
  bool ran_out_of_memory() const override { return ran_out_of_memory_; }

  /// Makes torch use this device and stream. Call once, before any other work.
  DeviceResult<void> use_stream(int ordinal, std::uint64_t stream);
  /// Returns torch's cached memory to the driver. @return false if torch could not be asked
  bool release_memory();

  /// Between these two functions, call() leaves results in the memory that torch allocated. An
  /// operator call whose argument lies in the publication buffer of such a result gets the result
  /// itself.
  DeviceResult<void> begin_unpublished();
  DeviceResult<void> end_unpublished();

  DeviceResult<std::int64_t> begin_capture();
  /// @param keep false if a step of the capture failed: the graph is dropped. Faults: torch's
  ///        error.
  DeviceResult<void> end_capture(std::int64_t graph, bool keep);
  DeviceResult<void> replay(std::int64_t graph);
  /// Copies the results of the graph's calls to the buffers that the calls were bound to.
  DeviceResult<void> publish_graph(std::int64_t graph);
  void forget_graph(std::int64_t graph);

  DeviceResult<std::int64_t> make_call(const CallProgram &program);
  /// Host time in ns of one call, until the stream is idle. Faults: Timeout; the device is then
  /// lost.
  DeviceResult<double> time_call(std::int64_t call, std::chrono::nanoseconds limit);
  /// Makes the next time_call() first run this call a few times, immediately before its own clock
  /// starts. The results of these runs are dropped.
  DeviceResult<void> warm_call(std::int64_t call);
  /// Copies the results of the last timed run to the output buffers of the call's frame.
  DeviceResult<void> publish_call(std::int64_t call);
  void forget_call(std::int64_t call);

  /// Records a call of another system's module, in the process that holds the module.
  /// @return the reason why the call has no device time; empty if it has one
  DeviceResult<std::string> record_candidate(CallHandle call);
  /// Times one run of such a call on the current content of its buffers, and copies the results to
  /// the buffers that the call was bound to.
  DeviceResult<ForeignSample> time_candidate(CallHandle call, bool as_called);

private:
  explicit CudaTorch(Request request) : request_(request) {}

  DeviceResult<nlohmann::json> request(const std::string &method,
                                       const nlohmann::json &parameters) override;

  Request request_;
  nlohmann::json facts_;
  bool ran_out_of_memory_ = false; ///< in the current job
};

} // namespace warpwright::runner::cuda
