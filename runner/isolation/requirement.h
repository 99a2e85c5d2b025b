// Required layers for each kind of work. A process that lacks a required layer exits before it runs
// anything and names the layer and the cause. Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

enum class Requirement {
  None,  ///< --allow-weak-isolation
  Local, ///< work of this machine's user, over stdio or a local socket
  Remote ///< work of any client with a token
};
/// Environment variable of workers, set by the service: "none", "local" or "remote"; absent: local.
inline constexpr const char *kRequirementVariable = "WARPWRIGHT_REQUIRED_ISOLATION";
const char *name(Requirement requirement);
Requirement requirement_from_environment();

/// The required layers. Each entry is a name, or names of which one suffices ("view|files").
std::vector<std::string> required_layers(WorkerKind kind, Requirement requirement);
/// Missing layers with their causes, as readable text; empty: none.
std::string what_is_missing(WorkerKind kind, Requirement requirement,
                            const std::vector<IsolationLayer> &layers);

} // namespace warpwright::runner
