// The choice of the device, and which worker has which job.
#include "runner/service/device_runner.h"
#include "support/model/json.h"

namespace warpwright::runner {

using rpc::Json;

DeviceRunner::DeviceRunner(boost::asio::any_io_executor executor, FoundDevices found)
    : notes_(std::move(found.notes)) {
  for (FoundDevice &device : found.devices)
    devices_.push_back(
        {device.name, std::make_shared<DeviceWorker>(executor, device.info, device.worker)});
}

Json DeviceRunner::describe() const {
  Json devices = Json::array(), names = Json::array();
  for (const Entry &entry : devices_) {
    devices.push_back(model::to_json(entry.worker->device()));
    names.push_back(entry.name);
  }
  return {{"devices", devices}, {"names", names}, {"notes", notes_}};
}

Result<DeviceRunner::Entry *> DeviceRunner::device_for(const std::string &name) {
  std::string known;
  for (Entry &entry : devices_) {
    if (name.empty() || entry.name == name)
      return &entry;
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  if (!devices_.empty())
    return fail("this runner has no device " + name, "It has " + known);
  std::string why;
  for (const std::string &note : notes_)
    why += " " + note;
  return fail("this runner has no device to verify on." + why, "Run `warpwright-runner doctor`");
}

Result<void> DeviceRunner::submit(QueuedJob job) {
  auto entry = device_for(job.options.device);
  if (!entry)
    return std::unexpected(entry.error());
  const std::shared_ptr<DeviceWorker> worker = (*entry)->worker;
  jobs_[job.id] = worker;
  job.done = [this, id = job.id, done = std::move(job.done)](rpc::Outcome outcome) {
    jobs_.erase(id);
    done(std::move(outcome));
  };
  worker->submit(std::move(job));
  return {};
}

void DeviceRunner::cancel(std::int64_t id) {
  if (const auto found = jobs_.find(id); found != jobs_.end()) {
    const std::shared_ptr<DeviceWorker> worker = found->second; // cancelling erases the entry
    worker->cancel(id);
  }
}

void DeviceRunner::stop() {
  for (Entry &entry : devices_)
    entry.worker->stop();
}

} // namespace warpwright::runner
