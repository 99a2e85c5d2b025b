// Interface between the service, which knows clients, and the runner of jobs: this machine's
// devices, or a fake in tests. Thread: the service's strand.
#pragma once

#include "runner/service/device_worker.h"

namespace warpwright::runner {

class JobRunner {
public:
  virtual ~JobRunner() = default;
  /// Members that the `info` reply takes from here: {devices, names, notes, isolation}.
  virtual rpc::Json describe() const = 0;
  /// [{device, layers}] for each device, from its worker or, before that starts, from a process
  /// that enters the same layers.
  virtual rpc::Json isolation() { return rpc::Json::array(); }
  /// Takes a job and calls its `done` once. Errors: no device of the wanted name.
  virtual Result<void> submit(QueuedJob job) = 0;
  /// The job ends with RequestCancelled; unknown ids are ignored.
  virtual void cancel(std::int64_t id) = 0;
  /// Traces torch modules: {traces: [{graph, buffers, call, torch} or {refusal}]}. Waits for no device.
  /// @param modules [{language, source, model, inputs, init_inputs, mode}]
  virtual void trace(const rpc::Json & /*modules*/, std::function<void(rpc::Outcome)> done) {
    done(std::unexpected(
        rpc::RpcError{rpc::kInternalError, "this runner traces no torch modules", {}}));
  }
  /// Ends all workers and jobs.
  virtual void stop() = 0;
};

} // namespace warpwright::runner
