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
  std::string device;          ///< or several: "H200,A100", a verdict on each
  std::vector<std::string> on; ///< more of them
  int timeout_ms = 60'000;
  bool no_measure = false, deep = false, profile = false, as_json = false;
  bool host_code = false;             ///< the plan may be another system's module
  std::vector<std::string> baselines; ///< of torch tasks: VerifyOptions::baselines
  std::uint64_t seed = 0;
};

/// The op graph of a torch module.
struct TraceCommand {
  std::string path, url;
  std::string model = "Model", inputs = "get_inputs", init_inputs = "get_init_inputs";
  bool evaluation = false; ///< .eval() is called on it
  std::string json_path;   ///< "-": stdout; empty: a text for people
};

/// Measures again what a verdict's record says.
struct ReplayCommand {
  std::string verdict_path, url;
  std::string device; ///< empty: as recorded
  bool same_seed = false, as_json = false;
};

/// One plain launch of a plan, for tools that watch the process.
struct LaunchCommand {
  std::string task_path, plan_path, device;
  std::vector<std::string> sizes; ///< "n=7,m=3", a run each; none: the task's
  std::uint64_t seed = 1;
  int repeat = 1;
  std::string leash;       ///< deep/leash.h
  std::string code_folder; ///< of deep::PlainLaunch
};

struct EncloseCommand {
  std::string program; ///< "host": the worker with torch; "trace"
  std::string device;  ///< of the worker
  std::string library; ///< empty: the one beside the Python files
};

/// The defaults are those of ServiceLimits.
struct ServeCommand {
  std::string fleet;                                   ///< amqps://..., docs/fleet.md
  std::string socket;                                  ///< path of a unix socket
  std::vector<std::string> listen;                     ///< tls://HOST:PORT
  std::string certificate, key, client_ca, token_file; ///< of all of `listen`
  std::size_t max_message_bytes = 16u << 20, max_queue = 1'000, max_clients = 512, max_jobs = 256;
  int max_job_time_ms = 3'600'000, linger_s = 600;
  int workers_per_gpu = 1; ///< that take turns on it
  bool allow_weak_isolation = false; ///< go on without layers that the work needs (docs/isolation.md)
  bool allow_busy_gpu = false; ///< measure while others compute on the GPU; verdicts say so
  Permissions permissions;
  QuotaLimits quotas; ///< of each owner
  std::string metrics; ///< HOST:PORT; empty: none
  bool log_as_json = false;
  log::Level log_level = log::Level::Warning;
};

/// Stdio when no listener is named; ends when stdin does, or on SIGINT and SIGTERM.
/// 2: a listener could not be opened.
int run_serve(const ServeCommand &command);
/// 0: verified, on every device; 1: any other verdict; 2: no verdict.
int run_verify(const VerifyCommand &command);
/// 0: traced; 2: it has no graph, or the runner could not be asked.
int run_trace(const TraceCommand &command);
/// 0: the same; 1: faster, slower, or another outcome; 2: it could not be told.
int run_replay(const ReplayCommand &command);
/// 0: all ran; 3: it could not be launched, or failed on the device.
int run_launch(const LaunchCommand &command);
int run_examine();
/// 0: something can verify here.
int run_doctor(bool as_json);
/// The same of the service at this URL. 1: it has no device; 2: it cannot be reached.
int run_doctor_of_runner(const std::string &url, bool as_json);
int run_cuda_worker(const std::string &device);
int run_devices();
/// Prints {rates, code}, the GPU's rates and the judge's compiled kernels, or {error}. @param device "cuda:N"
int run_calibrate(const std::string &device);
/// Prints {probe_ns} or {error}. @param device "cuda:N"
int run_probe(const std::string &device);
/// NVML's readings, a line a second; 1: there is no NVML.
int run_readings();
/// @param capability 10 * major + minor
int run_compile_worker(int capability);
/// A Python program of the runner in its enclosure; returns only when it cannot be started.
int run_enclosed(const EncloseCommand &command);
/// What holds a worker of this kind here, as JSON, from inside.
int run_isolation(const std::string &kind);

} // namespace warpwright::runner
