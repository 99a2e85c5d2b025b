// The runner of a command: the option's, else the project's, else one that is started with the
// project's Python. Thread: one; blocks.
#pragma once

#include "analysis/config/file_settings.h"
#include "runner/connect/connect.h"

namespace warpwright::cli {

/// @param option of the command line; empty: none
/// Errors: the approved project names a runner that cannot be used.
Result<std::string> runner_url_of(const config::FileSettings &settings, const std::string &option);

struct ChosenRunner {
  std::unique_ptr<runner::BlockingClient> client;
  runner::RunnerInfo info;
  model::DeviceInfo device;
};

/// @param device "cuda:0", "cpu"; empty: the runner's best
/// Errors: no connection, or no such device.
Result<ChosenRunner> connect_runner(const std::string &url, const std::string &device);

/// Prints what is wrong with the project's settings, and what its file asks for without approval.
void print_problems(const config::FileSettings &settings);
void print_error(const Error &error);

} // namespace warpwright::cli
