// Recording of another system's module, which is timed in the process that holds the module
// (docs/use/candidates.md). Thread: the job thread.
#pragma once

#include "runner/cuda/cuda_torch.h"

#include <span>

namespace warpwright::runner::cuda {

class ForeignRecording final : public Recording {
public:
  std::string why_no_device_time() const override { return uncaptured; }

  std::shared_ptr<const CallHandle> call;
  std::string uncaptured; ///< why the call cannot be captured; empty if it can
};

/// The call of such a module, if it is the only operation; else nullptr.
inline const TorchOperation *host_code_in(std::span<const Operation> operations) {
  const auto *torch =
      operations.size() == 1 ? std::get_if<TorchOperation>(&operations.front()) : nullptr;
  return torch && torch->is_host_code ? torch : nullptr;
}

inline DeviceResult<std::unique_ptr<Recording>> record_foreign(CudaTorch &torch,
                                                               const TorchOperation &operation) {
  auto why = TRY(torch.record_candidate(*operation.call));
  auto recording = std::make_unique<ForeignRecording>();
  recording->call = operation.call;
  recording->uncaptured = std::move(why);
  return recording;
}

} // namespace warpwright::runner::cuda
