#include "server/cli/runner_choice.h"

#include "runner/connect/choose_device.h"

#include <iostream>

namespace warpwright::cli {

Result<ChosenRunner> connect_runner(const std::string &url, const std::string &device) {
  ChosenRunner chosen;
  chosen.client = TRY(runner::BlockingClient::connect(url));
  chosen.info = TRY(chosen.client->info());
  chosen.device = TRY(runner::choose_device(chosen.info, device));
  return chosen;
}

void print_error(const Error &error) { std::cerr << "warpwright: " << describe(error) << '\n'; }

void print_problems(const config::FileSettings &settings) {
  for (const Error &problem : settings.problems)
    print_error(problem);
  if (const auto notice = consent::withheld_notice(settings.project.file))
    print_error(*notice);
}

} // namespace warpwright::cli
