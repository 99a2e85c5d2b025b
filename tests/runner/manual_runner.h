// In the devices' place: jobs end when the test says so.
#pragma once

#include "runner/service/job_runner.h"

#include <map>

namespace warpwright::runner::testing {

class ManualRunner final : public JobRunner {
public:
  rpc::Json describe() const override { return rpc::Json::object(); }
  Result<void> submit(QueuedJob job) override {
    ++submitted;
    jobs[job.id] = std::move(job);
    return {};
  }
  void cancel(std::int64_t id) override {
    ++cancelled;
    end(id, std::unexpected(rpc::RpcError{rpc::kRequestCancelled, "cancelled", {}}));
  }
  void stop() override {}
  void end(std::int64_t id, rpc::Outcome outcome) {
    auto job = jobs.extract(id);
    if (!job.empty())
      job.mapped().done(std::move(outcome));
  }

  std::map<std::int64_t, QueuedJob> jobs;
  int submitted = 0, cancelled = 0;
};

} // namespace warpwright::runner::testing
