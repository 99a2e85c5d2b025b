// Jobs on the devices of this machine: chooses the device of a job. Thread: the service's strand.
#pragma once

#include "runner/service/devices.h"
#include "runner/service/job_runner.h"

#include <map>

namespace warpwright::runner {

class DeviceRunner final : public JobRunner {
public:
  DeviceRunner(boost::asio::any_io_executor executor, FoundDevices found);

  rpc::Json describe() const override;
  Result<void> submit(QueuedJob job) override;
  void cancel(std::int64_t id) override;
  void stop() override;

private:
  struct Entry {
    std::string name;
    std::shared_ptr<DeviceWorker> worker;
  };
  Result<Entry *> device_for(const std::string &name);

  std::vector<std::string> notes_;
  std::vector<Entry> devices_;
  std::map<std::int64_t, std::shared_ptr<DeviceWorker>> jobs_; ///< unfinished, by id
};

} // namespace warpwright::runner
