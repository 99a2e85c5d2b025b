// The subcommands of warpwright-runner. Each returns the process's exit code.
#pragma once

#include <string>

namespace warpwright::runner {

struct VerifyCommand {
  std::string task_path, plan_path, device, url;
  int timeout_ms = 60'000;
  bool no_measure = false, as_json = false;
};

/// Stdio when `socket` is empty; ends when stdin does, or on SIGINT and SIGTERM.
int run_serve(const std::string &socket);
/// 0: verified; 1: any other verdict; 2: no verdict.
int run_verify(const VerifyCommand &command);
/// 0: something can verify here.
int run_doctor(bool as_json);
int run_cuda_worker(const std::string &device);
int run_devices();

} // namespace warpwright::runner
