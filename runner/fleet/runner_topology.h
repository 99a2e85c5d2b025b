// Queues that a runner serves, according to its devices.
// Thread: values, any.
#pragma once

#include "runner/fleet/amqp.h"
#include "support/model/verdict.h"

#include <map>

namespace warpwright::runner::fleet {

struct FleetDevice {
  std::string name; ///< of the service's device: "cuda:0"
  std::string type; ///< "h200"
};

/// Source of a delivery.
struct Source {
  enum class Kind { Jobs, Suspects, Dead, Control } kind = Kind::Jobs;
  std::string type; ///< for Jobs and Suspects: "h200", "any"
};

struct RunnerTopology {
  Topology topology;
  std::map<std::string, Source> sources; ///< by queue name
};

/// Number of deliveries from a jobs queue and from a suspects queue, after which a job moves on.
inline constexpr int kJobDeliveries = 4, kSuspectDeliveries = 3;

/// @param devices best first, at least one
/// @param name the runner's name, unique in the fleet
RunnerTopology runner_topology(const std::vector<FleetDevice> &devices, const std::string &name);

} // namespace warpwright::runner::fleet
