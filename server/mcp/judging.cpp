#include "server/mcp/judging.h"

#include <algorithm>
#include <array>

namespace warpwright::mcp {
namespace {

constexpr auto kStages =
    std::to_array<std::string_view>({"queued", "compiling", "verifying", "measuring"});

} // namespace

Result<model::Verdict> judge(Workbench &bench, const ToolCall &call,
                             const config::ProjectConfig &project, const model::Task &task,
                             const model::Plan &plan, bool profile) {
  call.on_progress(0, kStages.size(), "connecting to the runner");
  const ClientPtr client = TRY(bench.runner_for(project));
  const runner::VerifyOptions options{.device = bench.options().device, .profile = profile};
  auto verdict = client->verify(task, plan, options, call.stop, [&](const std::string &stage) {
    const auto known = std::ranges::find(kStages, stage);
    if (known != kStages.end())
      call.on_progress(static_cast<double>(known - kStages.begin() + 1), kStages.size() + 1, stage);
  });
  if (!verdict && !call.stop.stop_requested())
    bench.forget(client); // the next call connects again
  return verdict;
}

} // namespace warpwright::mcp
