// What the operator of a service lets its clients use (`serve --no-python`, `--no-host-code`, `--no-tools`,
// `--tools-for-remote`). A job that wants what is off is refused, in words that name the switch; NVIDIA's tools, which are an
// extra, are left out, and the verdict says so. Thread: values, any.
#pragma once

#include "support/model/task.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace warpwright::runner {

struct Permissions {
  bool python = true;    ///< torch tasks and tracing: both run Python (or C++) files of the client
  bool host_code = true; ///< candidates that are other systems' modules
  bool tools = true;     ///< compute-sanitizer and ncu, which run without isolation
  bool tools_for_remote = false; ///< the same for clients over TLS and of a fleet
};

/// Why tools do not run for such a client; empty: they may.
std::string why_no_tools(const Permissions &permissions, bool is_remote);
/// Why modules are not traced; empty: they are.
std::string why_no_tracing(const Permissions &permissions);
/// Why a job is not taken; empty: it may run.
std::string why_not_taken(const Permissions &permissions, const model::Task &task,
                          const model::Plan &plan);
/// [{name, why}]: what is off for such a client.
nlohmann::json switched_off(const Permissions &permissions, bool is_remote);

} // namespace warpwright::runner
