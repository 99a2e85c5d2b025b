// Connection of a command to its runner (server::runner_of says which), and what a project's settings say wrongly. Thread:
// one; blocks.
#pragma once

#include "analysis/config/file_settings.h"
#include "runner/connect/connect.h"

namespace warpwright::cli {

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
