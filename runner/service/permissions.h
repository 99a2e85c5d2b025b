// Permissions of a service's clients, set by its operator (`serve --no-python`, `--no-host-code`,
// `--no-tools`, `--tools-for-remote`). A job that needs a disabled permission is refused with a
// message that names the switch. NVIDIA's tools are optional: without permission, the verdict says
// that they did not run. Thread: values, any.
#pragma once

#include "support/model/task.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpwright::runner {

struct Permissions {
  bool python = true;    ///< torch tasks and tracing, which run the client's Python or C++ files
  bool host_code = true; ///< candidates that are modules of other systems
  bool tools = true;     ///< compute-sanitizer and ncu, which run without isolation
  bool tools_for_remote = false; ///< tools for clients over TLS and of a fleet, too
};

/// Why tools do not run for this client; empty: they may.
std::string why_no_tools(const Permissions &permissions, bool is_remote);
/// Why modules are not traced; empty: they are traced.
std::string why_no_tracing(const Permissions &permissions);
/// Why a job is refused; empty: it may run.
std::string why_not_taken(const Permissions &permissions, const model::Task &task,
                          const model::Plan &plan);
/// Disabled permissions for this client: [{name, why}].
nlohmann::json switched_off(const Permissions &permissions, bool is_remote);

} // namespace warpwright::runner
