#include "runner/service/neighbours.h"

namespace warpwright::runner {

void Neighbours::note(const std::vector<metrics::GpuReading> &readings, Clock::time_point now) {
  for (const metrics::GpuReading &reading : readings) {
    if (reading.foreign.empty())
      continue;
    std::string processes;
    for (const std::string &process : reading.foreign)
      processes += (processes.empty() ? "" : ", ") + process;
    last_[reading.device] = {std::move(processes), now};
  }
}

std::string Neighbours::after(const std::string &device, Clock::time_point since) const {
  const auto found = last_.find(device);
  return found != last_.end() && found->second.at >= since ? found->second.processes : "";
}

} // namespace warpwright::runner
