// A torch host that asks the Python interpreter it lives in: requests as method names and JSON, answered by the callbacks that
// host.py set. What each request holds is said in runner/torch/python/host.py. Thread: the job thread.
#pragma once

#include "runner/cuda/cuda_torch.h"
#include "runner/torch/library/worker_library.h"

#include <string>

namespace warpwright::runner {

class CallbackHost final : public cuda::CudaTorch {
public:
  /// Errors: torch cannot be used; what Python said.
  static Result<std::unique_ptr<CallbackHost>> make(const warpwright_callbacks &callbacks);

  /// The answer of the request that is being served, if one is.
  static void take_answer(const char *text, std::size_t size);

  std::string version() const override { return facts_.value("version", ""); }
  std::map<std::string, std::string> framework() override;

  DeviceResult<void> load(const model::TorchModule &module) override;
  DeviceResult<void> draw(const TorchSeeds &seeds, double scale,
                          const std::vector<TensorArgument> &in_and_inout) override;
  DeviceResult<CallHandle> bind_module(const model::ModuleStep &step,
                                       const std::vector<TensorArgument> &in_and_inout,
                                       const std::vector<TensorArgument> &outputs,
                                       bool exact) override;
  DeviceResult<CallHandle> bind_operator(const model::AtenStep &step,
                                         const std::vector<TensorArgument> &tensors) override;
  DeviceResult<std::size_t> input_count() override;
  void forget(CallHandle call) override;
  DeviceResult<void> refresh(CallHandle call) override;
  DeviceResult<void> call(CallHandle call) override;
  DeviceResult<std::vector<Address>> results(CallHandle call) override;
  DeviceResult<void> publish(CallHandle call) override;

  DeviceResult<void> use_stream(int ordinal, std::uint64_t stream) override;
  void start_job() override;
  bool ran_out_of_memory() const override { return ran_out_of_memory_; }
  bool release_memory() override;
  DeviceResult<void> begin_unpublished() override;
  DeviceResult<void> end_unpublished() override;
  DeviceResult<std::int64_t> begin_capture() override;
  DeviceResult<void> end_capture(std::int64_t graph, bool keep) override;
  DeviceResult<void> replay(std::int64_t graph) override;
  DeviceResult<void> publish_graph(std::int64_t graph) override;
  void forget_graph(std::int64_t graph) override;
  DeviceResult<std::int64_t> make_call(const cuda::CallProgram &program) override;
  DeviceResult<double> time_call(std::int64_t call, std::chrono::nanoseconds limit) override;
  DeviceResult<void> warm_call(std::int64_t call) override;
  DeviceResult<void> publish_call(std::int64_t call) override;
  void forget_call(std::int64_t call) override;
  DeviceResult<std::string> record_candidate(CallHandle call) override;
  DeviceResult<cuda::ForeignSample> time_candidate(CallHandle call, bool as_called) override;

private:
  explicit CallbackHost(const warpwright_callbacks &callbacks) : callbacks_(callbacks) {}

  DeviceResult<nlohmann::json> request(const char *method, const nlohmann::json &parameters) const;
  DeviceResult<void> order(const char *method, const nlohmann::json &parameters) const;

  warpwright_callbacks callbacks_;
  nlohmann::json facts_;
  mutable bool ran_out_of_memory_ = false; ///< in this job
};

} // namespace warpwright::runner
