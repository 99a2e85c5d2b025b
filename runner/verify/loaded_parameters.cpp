#include "runner/verify/loaded_parameters.h"
#include "runner/device/torch_host.h"

#include <algorithm>

namespace warpwright::runner {

DeviceResult<std::optional<model::Check>> try_loaded_parameters(Job &job, std::uint64_t seed) {
  const auto inputs = TRY(job.device.torch()->input_count());
  const auto given = std::ranges::count_if(job.task.buffers, [](const model::Buffer &buffer) {
    return buffer.direction != model::Direction::Out;
  });
  if (static_cast<std::size_t>(given) == inputs)
    return std::nullopt;
  Drawing drawing{job.task.sizes, seed, 1, false};
  drawing.varied = true;
  const auto trial = run_trial(job, drawing);
  if (!trial && trial.error().device_lost)
    return std::unexpected(trial.error());
  model::Check check{"other parameters loaded into it", true, ""};
  if (trial && !trial->failure)
    return check;
  check.detail = trial ? trial->failure->message : trial.error().message;
  const bool tried =
      trial ? trial->failure->outcome != model::Outcome::Unsupported
            : trial.error().kind != Fault::Kind::Unsupported && job.running() == Side::Candidate;
  check.passed = !tried;
  if (!tried)
    check.detail = "not tried: " + check.detail;
  return check;
}

} // namespace warpwright::runner
