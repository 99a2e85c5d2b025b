// The subcommands of warpwright-runner. Each returns the process's exit code.
#pragma once

#include "runner/service/permissions.h"
#include "runner/service/quotas.h"
#include "support/log.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::runner {

struct VerifyCommand {
  std::string task_path, plan_path, url;
  std::string device; ///< one selector, or several with commas: "H200,A100", a verdict for each
  std::vector<std::string> on; ///< more selectors
  int timeout_ms = 60'000;
  bool no_measure = false, deep = false, profile = false, as_json = false;
  bool host_code = false;             ///< the plan may be a module of another system
  std::vector<std::string> baselines; ///< for torch tasks: VerifyOptions::baselines
  std::uint64_t seed = 0;
};

/// Prints the op graph of a torch module.
struct TraceCommand {
  std::string path, url;
  std::string model = "Model", inputs = "get_inputs", init_inputs = "get_init_inputs";
  bool evaluation = false; ///< .eval() is called on the module
  std::string json_path;   ///< "-": stdout; empty: readable text
};

/// Measures again from a verdict's record.
struct ReplayCommand {
  std::string verdict_path, url;
  std::string device; ///< empty: the recorded one
  bool same_seed = false, as_json = false;
};

/// One plain launch of a plan, for tools that watch the process.
struct LaunchCommand {
  std::string task_path, plan_path, device;
  std::vector<std::string> sizes; ///< "n=7,m=3", one launch for each; none: the task's sizes
  std::uint64_t seed = 1;
  int repeat = 1;
  std::string leash;       ///< deep/leash.h
  std::string code_folder; ///< see deep::PlainLaunch
};

/// Machine code of a plan's kernels.
struct ListingCommand {
  std::string plan_path;
  int capability = 0; ///< 90 for 9.0
};

struct EncloseCommand {
  std::string program; ///< "host": the worker with torch; "trace": the tracing program
  std::string device;  ///< device of the worker
  std::string library; ///< empty: the library beside the Python files
};

/// The defaults are those of ServiceLimits.
struct ServeCommand {
  std::string fleet;                                   ///< amqps://..., docs/operate/fleet.md
  std::string socket;                                  ///< path of a unix socket
  std::vector<std::string> listen;                     ///< tls://HOST:PORT
  std::string certificate, key, client_ca, token_file; ///< for all entries of `listen`
  std::size_t max_message_bytes = 16u << 20, max_queue = 1'000, max_clients = 512, max_jobs = 256;
  int max_job_time_ms = 3'600'000, linger_s = 600;
  int workers_per_gpu = 1; ///< workers that take turns on one GPU
  int idle_exit_s = 0;     ///< end after this time without clients and jobs; 0: never
  /// Serve without layers that the work needs (docs/operate/isolation.md).
  bool allow_weak_isolation = false;
  /// Measure while other processes compute on the GPU; verdicts say so.
  bool allow_busy_gpu = false;
  Permissions permissions;
  QuotaLimits quotas; ///< for each owner
  std::string metrics; ///< HOST:PORT; empty: no endpoint
  bool log_as_json = false;
  log::Level log_level = log::Level::Warning;
};

/// A line to this user's service on this machine.
struct ConnectCommand {
  std::string ready;  ///< printed with " up" when the service has answered; empty: nothing is
  int idle_s = 600;   ///< --idle-exit of a service that is started
};

/// Serves on stdio when no listener is named; ends at end of stdin, or on SIGINT and SIGTERM.
/// Exit code 2: a listener could not be opened.
int run_serve(const ServeCommand &command);
/// Exit code 0: the service or the client has ended the line; 2: no service could be reached.
int run_connect(const ConnectCommand &command);
/// Exit code 0: verified on every device; 1: any other verdict; 2: no verdict.
int run_verify(const VerifyCommand &command);
/// Prints {"source", "ptx", "kernels": [{"name", "rows": [[address, line of PTX, line of source]]}], "nvrtc"} as JSON,
/// with "sass" and "nvdisasm", or "sass_missing": {message, remedy}; or {"error": {message, remedy}}. Exit code 0 or 2.
/// Needs no GPU.
int run_listing(const ListingCommand &command);
/// Exit code 0: traced; 2: the module has no op graph, or no runner answered.
int run_trace(const TraceCommand &command);
/// Exit code 0: the same result, or faster; 1: slower, or another outcome; 2: no comparison was
/// possible.
int run_replay(const ReplayCommand &command);
/// Exit code 0: all launches ran; 3: the launch failed; 4: the leash was released.
int run_launch(const LaunchCommand &command);
int run_examine();
/// Exit code 0: at least one device can verify.
int run_doctor(bool as_json);
/// The same report for the service at this URL. Exit code 1: no device; 2: no connection.
int run_doctor_of_runner(const std::string &url, bool as_json);
int run_cuda_worker(const std::string &device);
int run_devices();
/// Prints {rates, code} (the GPU's rates and the judge's compiled kernels) or {error}.
/// @param device "cuda:N"
int run_calibrate(const std::string &device);
/// Prints {probe_ns} or {error}. @param device "cuda:N"
int run_probe(const std::string &device);
/// Prints NVML's readings, one line a second. Exit code 1: NVML is absent.
int run_readings();
/// @param capability 10 * major + minor
int run_compile_worker(int capability);
/// Runs one of the runner's Python programs in its isolation; returns only when it cannot be
/// started.
int run_enclosed(const EncloseCommand &command);
/// Prints the isolation layers of a worker of this kind as JSON, from a process that has entered
/// them.
int run_isolation(const std::string &kind);

} // namespace warpwright::runner
