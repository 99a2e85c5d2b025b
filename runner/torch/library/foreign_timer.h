// Timer in a process that holds another system's module. It uses the same device, recording and
// clock code as the worker, which requests one timed run at a time. The timer makes no decisions;
// the worker checks its answers for plausibility (docs/use/candidates.md). Thread: the main thread.
#pragma once

#include "runner/cuda/cuda_torch.h"
#include "runner/torch/library/worker_library.h"

#include <map>

namespace warpwright::runner {

class ForeignTimer {
public:
  /// Answers one request.
  /// @param request see warpwright_timer()
  nlohmann::json answer(const nlohmann::json &request, const warpwright_callbacks &callbacks);
  static nlohmann::json failed(const std::string &kind, const std::string &message);

private:
  nlohmann::json open(const std::string &device, const warpwright_callbacks &callbacks);
  nlohmann::json record(CallHandle call);
  nlohmann::json time(std::int64_t recording, bool as_called);

  std::unique_ptr<cuda::CudaTorch> torch_;
  std::unique_ptr<Device> device_;
  std::map<std::int64_t, std::unique_ptr<Recording>> recordings_;
  std::int64_t next_ = 1;
};

} // namespace warpwright::runner
