#include "runner/metrics/runner_metrics.h"
#include "support/version.h"

#include <chrono>

namespace warpwright::runner::metrics {
namespace {

using Type = Family::Type;

/// Buckets from a cached compile to a job near its time limit.
const std::vector<double> kSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                      0.5,   1,      2.5,   5,    10,    30,   60,  300};
constexpr const char *kOutcomes[] = {"verified",    "compile_failed", "wrong_result",
                                     "timeout",     "crash",          "suspected_cheat",
                                     "unsupported", "cancelled",      "error"};

const char *name_of(CompiledAhead result) {
  switch (result) {
  case CompiledAhead::Hit:
    return "hit";
  case CompiledAhead::Miss:
    return "miss";
  case CompiledAhead::Refused:
    return "refused";
  case CompiledAhead::Lost:
    break;
  }
  return "lost";
}

} // namespace

RunnerMetrics::RunnerMetrics()
    : info_(registry_.make(Type::Gauge, "warpwright_info", "1, with the runner's version.")),
      started_(registry_.make(Type::Gauge, "process_start_time_seconds",
                              "When the runner started, seconds since 1970.")),
      clients_(registry_.make(Type::Gauge, "warpwright_clients", "Clients connected.")),
      accepted_(
          registry_.make(Type::Counter, "warpwright_jobs_accepted_total", "Candidates taken in.")),
      jobs_(registry_.make(Type::Counter, "warpwright_jobs_total",
                           "Candidates answered, by device (empty: it reached none) and outcome.")),
      queue_(registry_.make(Type::Gauge, "warpwright_queue_jobs",
                            "Jobs waiting that this device may take.")),
      job_seconds_(registry_.make(Type::Histogram, "warpwright_job_seconds",
                                  "From a job's coming in to its answer.", kSeconds)),
      stage_seconds_(registry_.make(Type::Histogram, "warpwright_stage_seconds",
                                    "Duration of a job's stages.", kSeconds)),
      starts_(registry_.make(Type::Counter, "warpwright_worker_starts_total",
                             "Worker processes started.")),
      restarts_(registry_.make(Type::Counter, "warpwright_worker_restarts_total",
                               "Worker processes started in place of another.")),
      losses_(registry_.make(Type::Counter, "warpwright_worker_losses_total",
                             "Worker processes that a job cost: faults, timeouts, kills.")),
      layers_(registry_.make(Type::Gauge, "warpwright_isolation_layer",
                             "1 if a layer of a worker's isolation holds, 0 if it is missing.")),
      compiled_(registry_.make(
          Type::Counter, "warpwright_compile_ahead_total",
          "GPU jobs by what compiling ahead did: hit, miss, refused (never reached it), lost.")),
      temperature_(
          registry_.make(Type::Gauge, "warpwright_gpu_temperature_celsius", "NVML's GPU sensor.")),
      sm_clock_(registry_.make(Type::Gauge, "warpwright_gpu_sm_clock_hertz", "Current SM clock.")),
      memory_clock_(registry_.make(Type::Gauge, "warpwright_gpu_memory_clock_hertz",
                                   "Current memory clock.")),
      power_(registry_.make(Type::Gauge, "warpwright_gpu_power_watts", "Power drawn.")),
      utilization_(registry_.make(Type::Gauge, "warpwright_gpu_utilization_ratio",
                                  "Share of the last sample period with a kernel running.")),
      memory_used_(registry_.make(Type::Gauge, "warpwright_gpu_memory_used_bytes",
                                  "Device memory in use by all processes.")) {
  info_.set({{"version", version()}}, 1);
  started_.set(
      {},
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  clients_.set({}, 0);
  accepted_.add({}, 0);
  for (const auto result :
       {CompiledAhead::Hit, CompiledAhead::Miss, CompiledAhead::Refused, CompiledAhead::Lost})
    compiled_.add({{"result", name_of(result)}}, 0);
}

void RunnerMetrics::add_device(const std::string &name) {
  for (const char *outcome : kOutcomes)
    jobs_.add({{"device", name}, {"outcome", outcome}}, 0);
  for (Family *family : {&starts_, &restarts_, &losses_})
    family->add({{"device", name}}, 0);
  queue_.set({{"device", name}}, 0);
}

void RunnerMetrics::set_readings(const std::vector<GpuReading> &readings) {
  for (const GpuReading &reading : readings) {
    const Labels labels = {{"device", reading.device}, {"gpu", reading.name}};
    const auto show = [&](Family &family, const std::optional<double> &value) {
      value ? family.set(labels, *value) : family.forget(labels);
    };
    show(temperature_, reading.temperature_celsius);
    show(sm_clock_, reading.sm_clock_hertz);
    show(memory_clock_, reading.memory_clock_hertz);
    show(power_, reading.power_watts);
    show(utilization_, reading.utilization);
    show(memory_used_, reading.memory_used_bytes);
  }
}

void RunnerMetrics::job_accepted() { accepted_.add({}); }

void RunnerMetrics::job_finished(const std::string &device, const std::string &outcome,
                                 double seconds) {
  jobs_.add({{"device", device}, {"outcome", outcome}});
  job_seconds_.observe({{"device", device}}, seconds);
}

void RunnerMetrics::stage_ended(const std::string &device, const std::string &stage,
                                double seconds) {
  stage_seconds_.observe({{"device", device}, {"stage", stage}}, seconds);
}

void RunnerMetrics::queue_changed(const std::string &device, std::size_t waiting) {
  queue_.set({{"device", device}}, static_cast<double>(waiting));
}

void RunnerMetrics::worker_started(const std::string &device, bool again) {
  starts_.add({{"device", device}});
  if (again)
    restarts_.add({{"device", device}});
}

void RunnerMetrics::worker_lost(const std::string &device) { losses_.add({{"device", device}}); }

void RunnerMetrics::layer_entered(const std::string &device, const std::string &layer,
                                  bool holds) {
  layers_.set({{"device", device}, {"layer", layer}}, holds ? 1 : 0);
}

void RunnerMetrics::compiled_ahead(CompiledAhead result) {
  compiled_.add({{"result", name_of(result)}});
}

void RunnerMetrics::clients_changed(std::size_t connected) {
  clients_.set({}, static_cast<double>(connected));
}

} // namespace warpwright::runner::metrics
