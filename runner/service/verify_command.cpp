// `verify TASK PLAN`: one job through a runner, by the same client that editors use.
#include "runner/client/client.h"
#include "runner/service/commands.h"
#include "runner/service/json_file.h"

#include <iostream>

namespace warpwright::runner {
namespace {

void print_table(const model::Verdict &verdict) {
  std::cout << model::name(verdict.outcome) << ": " << verdict.message << "\n"
            << "on " << verdict.device.name << " (" << verdict.device.driver << "), "
            << verdict.date << "\n";
  for (const model::Check &check : verdict.checks)
    std::cout << (check.passed ? "  ok      " : "  FAILED  ") << check.name
              << (check.detail.empty() ? "" : ": " + check.detail) << "\n";
  if (verdict.reference_time && verdict.candidate_time)
    std::cout << "  reference " << verdict.reference_time->median_ns / 1e3 << " us, candidate "
              << verdict.candidate_time->median_ns / 1e3 << " us, at " << verdict.measured_sizes
              << "\n";
  if (verdict.speedup)
    std::cout << "  speedup " << verdict.speedup->ratio << " [" << verdict.speedup->low << ", "
              << verdict.speedup->high << "], " << verdict.speedup->samples << " pairs\n";
}

Result<model::Verdict> ask(const VerifyCommand &command) {
  auto task = load_json_file(command.task_path, model::task_from_json);
  if (!task)
    return std::unexpected(task.error());
  auto plan = load_json_file(command.plan_path, model::plan_from_json);
  if (!plan)
    return std::unexpected(plan.error());
  auto client = BlockingClient::connect(command.url);
  if (!client)
    return std::unexpected(client.error());
  VerifyOptions options;
  options.device = command.device;
  options.timeout = std::chrono::milliseconds(command.timeout_ms);
  options.measure = !command.no_measure;
  options.deep = command.deep;
  options.profile = command.profile;
  options.seed = command.seed;
  return (*client)->verify(*task, *plan, options, {}, [&](const std::string &stage) {
    if (!command.as_json)
      std::cerr << stage << "\n";
  });
}

} // namespace

int run_verify(const VerifyCommand &command) {
  const auto verdict = ask(command);
  if (!verdict) {
    if (command.as_json)
      std::cout << nlohmann::json{{"error",
                                   {{"message", verdict.error().message},
                                    {"remedy", verdict.error().remedy}}}}
                       .dump(1)
                << "\n";
    std::cerr << describe(verdict.error()) << std::endl;
    return 2;
  }
  if (command.as_json)
    std::cout << model::to_json(*verdict).dump(1, ' ', false,
                                               nlohmann::json::error_handler_t::replace)
              << "\n";
  else
    print_table(*verdict);
  return verdict->outcome == model::Outcome::Verified ? 0 : 1;
}

} // namespace warpwright::runner
