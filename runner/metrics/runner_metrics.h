// Metrics of a runner: an observer that counts events, and the readings of its GPUs.
// docs/operate/operations.md explains every metric. Thread: the service's strand.
#pragma once

#include "runner/metrics/exposition.h"
#include "runner/metrics/gpu_readings.h"
#include "runner/metrics/observer.h"

namespace warpwright::runner::metrics {

class RunnerMetrics final : public Observer {
public:
  /// Makes a device's counters start at 0, so that the first event is an increase. Call before any
  /// event.
  void add_device(const std::string &name);
  void set_readings(const std::vector<GpuReading> &readings);
  std::string text() const { return registry_.text(); }

  void job_accepted() override;
  void job_finished(const std::string &device, const std::string &outcome, double seconds) override;
  void stage_ended(const std::string &device, const std::string &stage, double seconds) override;
  void queue_changed(const std::string &device, std::size_t waiting) override;
  void worker_started(const std::string &device, bool again) override;
  void worker_lost(const std::string &device) override;
  void layer_entered(const std::string &device, const std::string &layer, bool holds) override;
  void compiled_ahead(CompiledAhead result) override;
  void clients_changed(std::size_t connected) override;

  RunnerMetrics();

private:
  Registry registry_;
  Family &info_, &started_, &clients_, &accepted_, &jobs_, &queue_, &job_seconds_, &stage_seconds_,
      &starts_, &restarts_, &losses_, &layers_, &compiled_, &temperature_, &sm_clock_, &memory_clock_,
      &power_, &utilization_, &memory_used_;
};

} // namespace warpwright::runner::metrics
