// The torch of a worker whose process is a Python interpreter, as the CUDA device needs it beyond TorchHost: one stream, graphs
// captured by torch itself (its allocator then gives a capture memory of its own), and calls timed from Python. Requests go to the
// interpreter that the worker lives in, by the callbacks that host.py set.
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

class CudaTorch final : public TorchHost {
public:
  /// As warpwright_callbacks::request of runner/torch/library/worker_library.h.
  using Request = std::int32_t (*)(const char *method, const char *parameters);
  /// Errors: torch cannot be used; what Python said.
  static Result<std::unique_ptr<CudaTorch>> make(Request request);

  /// The answer of the request that is being served, if one is.
  static void take_answer(const char *text, std::size_t size);

  std::string version() const override { return facts_.value("version", ""); }
  std::map<std::string, std::string> framework() override;
  void start_job() override;
  bool ran_out_of_memory() const override { return ran_out_of_memory_; }

  /// Once, before anything else.
  DeviceResult<void> use_stream(int ordinal, std::uint64_t stream);
  /// Gives memory that torch keeps for later back to the driver. @return whether there was a chance of any
  bool release_memory();

  /// Between these two, call() keeps results where torch made them: a call bound to a place among another's published results is
  /// given that call's result itself.
  DeviceResult<void> begin_unpublished();
  DeviceResult<void> end_unpublished();

  DeviceResult<std::int64_t> begin_capture();
  /// @param keep false: something failed between, and the graph is dropped. Faults: what torch said.
  DeviceResult<void> end_capture(std::int64_t graph, bool keep);
  DeviceResult<void> replay(std::int64_t graph);
  /// Copies the results of the graph's calls into the buffers that they were bound to.
  DeviceResult<void> publish_graph(std::int64_t graph);
  void forget_graph(std::int64_t graph);

  DeviceResult<std::int64_t> make_call(const CallProgram &program);
  /// Host time in ns of one call, until the stream is idle. Faults: Timeout, after which the device is lost.
  DeviceResult<double> time_call(std::int64_t call, std::chrono::nanoseconds limit);
  /// The next time_call() makes this call, too, a few times right before its clock; what it returns is dropped.
  DeviceResult<void> warm_call(std::int64_t call);
  /// Copies what the last timed call returned into the buffers of its frame.
  DeviceResult<void> publish_call(std::int64_t call);
  void forget_call(std::int64_t call);

  /// Of a call of another system's module, in the process that holds it. @return why it has no device time; empty: it has
  DeviceResult<std::string> record_candidate(CallHandle call);
  /// One timed run of it on what its buffers hold now, and its results in the buffers that it was bound to.
  DeviceResult<ForeignSample> time_candidate(CallHandle call, bool as_called);

private:
  explicit CudaTorch(Request request) : request_(request) {}

  DeviceResult<nlohmann::json> request(const std::string &method,
                                       const nlohmann::json &parameters) override;

  Request request_;
  nlohmann::json facts_;
  bool ran_out_of_memory_ = false; ///< in this job
};

} // namespace warpwright::runner::cuda
