#include "runner/service/permissions.h"

namespace warpwright::runner {
namespace {

constexpr const char *kNoPython =
    "this runner runs no Python of its clients: it was started with --no-python";
constexpr const char *kNoHostCode =
    "this runner runs no other systems' modules: it was started with --no-host-code";
constexpr const char *kNoTools =
    "this runner runs neither compute-sanitizer nor ncu: it was started with --no-tools";
constexpr const char *kNoToolsForRemote =
    "this runner runs compute-sanitizer and ncu for clients of the same machine only; its operator "
    "may start it with "
    "--tools-for-remote";

} // namespace

std::string why_no_tools(const Permissions &permissions, bool is_remote) {
  if (!permissions.tools)
    return kNoTools;
  return is_remote && !permissions.tools_for_remote ? kNoToolsForRemote : "";
}

std::string why_no_tracing(const Permissions &permissions) {
  return permissions.python ? "" : kNoPython;
}

std::string why_not_taken(const Permissions &permissions, const model::Task &task,
                          const model::Plan &plan) {
  if (!permissions.python && task.module)
    return kNoPython;
  if (!permissions.host_code && model::is_host_code(plan))
    return kNoHostCode;
  return "";
}

nlohmann::json switched_off(const Permissions &permissions, bool is_remote) {
  nlohmann::json off = nlohmann::json::array();
  if (!permissions.python)
    off.push_back({{"name", "python"}, {"why", kNoPython}});
  if (!permissions.host_code)
    off.push_back({{"name", "host code"}, {"why", kNoHostCode}});
  if (const std::string why = why_no_tools(permissions, is_remote); !why.empty())
    off.push_back({{"name", "tools"}, {"why", why}});
  return off;
}

} // namespace warpwright::runner
