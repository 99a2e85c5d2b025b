#include "runner/fleet/runner_topology.h"
#include "runner/fleet/names.h"

namespace warpwright::runner::fleet {
namespace {

/// Consumer priorities on the general queue: runners with a GPU are served first.
constexpr int kGpuPriority = 10, kCpuPriority = 0;
/// Per device: one job that runs, and another that is compiled meanwhile.
constexpr int kJobsPerDevice = 2;

/// Makes a queue with at-least-once dead-lettering: a message is stored in the next queue before it
/// is removed from this one.
QueueSpec limited_queue(const std::string &name, int deliveries, const std::string &next) {
  return {.name = name,
          .durable = true,
          .arguments = {{"x-queue-type", "quorum"},
                        {"x-delivery-limit", deliveries - 1},
                        {"x-dead-letter-exchange", ""},
                        {"x-dead-letter-routing-key", next},
                        {"x-dead-letter-strategy", "at-least-once"},
                        {"x-overflow", "reject-publish"}}};
}

} // namespace

RunnerTopology runner_topology(const std::vector<FleetDevice> &devices, const std::string &name) {
  std::map<std::string, int> counts;
  for (const FleetDevice &device : devices)
    ++counts[device.type];
  const std::string best = devices.front().type;
  counts[kAnyType] = counts[best];
  if (best != kCpuType)
    counts[kGpuType] = counts[best];

  RunnerTopology result;
  Topology &topology = result.topology;
  topology.connection_name = name;
  topology.exchanges = {kControlExchange};
  const std::string control = "warpwright.runner." + name;
  topology.queues = {
      {.name = control, .exclusive = true, .exchanges = {kControlExchange}},
      {.name = kDeadQueue, .durable = true, .arguments = {{"x-queue-type", "quorum"}}}};
  topology.consumers = {{.queue = control}, {.queue = kDeadQueue, .prefetch = 1}};
  result.sources = {{control, {Source::Kind::Control, ""}}, {kDeadQueue, {Source::Kind::Dead, ""}}};
  for (const auto &[type, count] : counts) {
    const std::string jobs = jobs_queue(type), suspects = suspects_queue(type);
    topology.queues.push_back(limited_queue(suspects, kSuspectDeliveries, kDeadQueue));
    topology.queues.push_back(limited_queue(jobs, kJobDeliveries, suspects));
    const int priority = type == kAnyType && best != kCpuType ? kGpuPriority : kCpuPriority;
    topology.consumers.push_back({jobs, kJobsPerDevice * count, priority});
    topology.consumers.push_back({suspects, 1, priority});
    result.sources[jobs] = {Source::Kind::Jobs, type};
    result.sources[suspects] = {Source::Kind::Suspects, type};
  }
  return result;
}

} // namespace warpwright::runner::fleet
