// warpwright-runner: the command line. Subcommands are thin; what they do lives in the folder's
// other files.
#include "runner/service/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>

int main(int argc, char **argv) {
  using namespace warpwright::runner;
  CLI::App app{"Verifies GPU kernels against their reference and measures them",
               "warpwright-runner"};
  app.set_version_flag("--version", WARPWRIGHT_VERSION);
  app.require_subcommand(1);

  std::string socket, task, plan, device;
  bool as_json = false;
  VerifyCommand verify_command;
  auto *serve =
      app.add_subcommand("serve", "Serve JSON-RPC on stdin and stdout, or on a unix socket");
  serve->add_option("--socket", socket, "Listen on this unix socket");
  auto *verify = app.add_subcommand("verify", "Verify one plan for one task");
  verify->add_option("TASK", verify_command.task_path, "task.json")->required();
  verify->add_option("PLAN", verify_command.plan_path, "plan.json")->required();
  verify->add_option("--device", verify_command.device, "cuda:0, cpu; default: the best");
  verify->add_option("--timeout", verify_command.timeout_ms, "Milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  verify->add_option("--runner", verify_command.url, "unix:/path of a running service");
  verify->add_flag("--no-measure", verify_command.no_measure, "Verify only");
  verify->add_flag("--json", verify_command.as_json, "Print the verdict as JSON");
  auto *doctor =
      app.add_subcommand("doctor", "What was found on this machine, and what to do about the rest");
  doctor->add_flag("--json", as_json, "As JSON");
  auto *worker = app.add_subcommand("worker", "One device's worker process (internal)")->group("");
  worker->add_option("--device", device, "cuda:N")->required();
  auto *devices =
      app.add_subcommand("devices", "The GPUs that the driver sees, as JSON (internal)")->group("");

  CLI11_PARSE(app, argc, argv);
  try {
    if (*serve)
      return run_serve(socket);
    if (*verify)
      return run_verify(verify_command);
    if (*doctor)
      return run_doctor(as_json);
    if (*worker)
      return run_cuda_worker(device);
    if (*devices)
      return run_devices();
  } catch (const std::exception &error) {
    std::cerr << "warpwright-runner: " << error.what() << std::endl;
    return 2;
  }
  return 0;
}
