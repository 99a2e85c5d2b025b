// Which layers a kind of work cannot do without. A process whose enclosure lacks one ends before it
// runs anything, and says which layer and why. Thread: any.
#pragma once

#include "runner/isolation/isolation.h"

namespace warpwright::runner {

enum class Requirement {
  None,  ///< --allow-weak-isolation
  Local, ///< the user's own editor asks, over stdio or a socket of this machine
  Remote ///< anybody with a token does
};
/// In the environment that the service gives its workers: "none", "local" or "remote"; absent: local.
inline constexpr const char *kRequirementVariable = "WARPWRIGHT_REQUIRED_ISOLATION";
const char *name(Requirement requirement);
Requirement requirement_from_environment();

/// The layers that this kind of work needs, each a name or names of which one suffices ("view|files").
std::vector<std::string> required_layers(WorkerKind kind, Requirement requirement);
/// Empty, or what is missing and why, for people.
std::string what_is_missing(WorkerKind kind, Requirement requirement,
                            const std::vector<IsolationLayer> &layers);

} // namespace warpwright::runner
