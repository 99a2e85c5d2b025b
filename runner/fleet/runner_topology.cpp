#include "runner/fleet/runner_topology.h"
#include "runner/fleet/names.h"

namespace warpwright::runner::fleet {
namespace {

/// Of the general queue: hosts with a GPU are served before those without.
constexpr int kGpuPriority = 10, kCpuPriority = 0;
/// A device works on one job while the next is compiled.
constexpr int kJobsPerDevice = 2;

/// At-least-once dead-lettering: what leaves this queue is in the next before it is gone from here.
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
