// Which queues a runner serves, from the devices it has.
// Thread: values, any.
#pragma once

#include "runner/fleet/amqp.h"
#include "support/model/verdict.h"

#include <map>

namespace warpwright::runner::fleet {

struct FleetDevice {
  std::string name; ///< of the service: "cuda:0"
  std::string type; ///< "h200"
};

/// Where a delivery came from.
struct Source {
  enum class Kind { Jobs, Suspects, Dead, Control } kind = Kind::Jobs;
  std::string type; ///< of Jobs and Suspects: "h200", "any"
};

struct RunnerTopology {
  Topology topology;
  std::map<std::string, Source> sources; ///< by queue
};

/// How often a job is delivered before its verdict is that it was given up.
inline constexpr int kJobDeliveries = 4, kSuspectDeliveries = 3;

/// @param devices best first, at least one
/// @param name of the runner, unique in the fleet
RunnerTopology runner_topology(const std::vector<FleetDevice> &devices, const std::string &name);

} // namespace warpwright::runner::fleet
