#include "runner/isolation/requirement.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace warpwright::runner {
namespace {

constexpr const char *kRemedy =
    ". Run it where the kernel grants these (docs/operate/isolation.md), or accept less by --allow-weak-isolation";

} // namespace

const char *name(Requirement requirement) {
  switch (requirement) {
  case Requirement::None:
    return "none";
  case Requirement::Local:
    return "local";
  default:
    return "remote";
  }
}

Requirement requirement_from_environment() {
  const char *value = std::getenv(kRequirementVariable);
  const std::string text = value ? value : "";
  return text == "none"     ? Requirement::None
         : text == "remote" ? Requirement::Remote
                            : Requirement::Local;
}

std::vector<std::string> required_layers(WorkerKind kind, Requirement requirement) {
  if (requirement == Requirement::None)
    return {};
  if (kind == WorkerKind::Candidate || (kind == WorkerKind::Python && requirement == Requirement::Remote))
    return {"processes", "network", "view", "user", "capabilities", "system calls"};
  if (requirement == Requirement::Remote)
    return {"network", "view|files", "user", "capabilities", "system calls"};
  if (kind == WorkerKind::Python) // the user's own modules
    return {"view|files", "capabilities", "system calls"};
  return {};
}

std::string what_is_missing(WorkerKind kind, Requirement requirement,
                            const std::vector<IsolationLayer> &layers) {
  std::string missing;
  for (const std::string &wanted : required_layers(kind, requirement)) {
    std::stringstream names(wanted);
    std::string why = "it was not entered";
    bool holds = false;
    for (std::string one; std::getline(names, one, '|');) {
      const auto layer = std::ranges::find(layers, one, &IsolationLayer::name);
      if (layer == layers.end())
        continue;
      holds |= layer->active;
      why = layer->detail;
    }
    if (!holds)
      missing += (missing.empty() ? "" : "; ") + wanted + " (" + why + ")";
  }
  return missing.empty() ? ""
                         : std::string("isolation of the ") + name(kind) + " process lacks: " +
                               missing + kRemedy;
}

} // namespace warpwright::runner
