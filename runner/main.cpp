// Command line of warpwright-runner. It only parses options; the other files of this folder
// implement the subcommands.
#include "runner/adversary/command.h"
#include "runner/service/commands.h"
#include "runner/service/devices.h"
#include "support/build/build_description.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

namespace {

void add_serve_options(CLI::App &serve, warpwright::runner::ServeCommand &command) {
  serve.add_option("--socket", command.socket, "Listen on this unix socket");
  serve.add_option("--fleet", command.fleet,
                   "Take jobs from the broker amqps://USER:PASSWORD@HOST:PORT/VHOST?ca=FILE");
  serve.add_option("--listen", command.listen, "Listen on tls://HOST:PORT; may be repeated");
  serve.add_option("--cert", command.certificate, "PEM file: the certificate (chain) of --listen");
  serve.add_option("--key", command.key, "PEM file: its key");
  serve.add_option("--token-file", command.token_file,
                   "Tokens of the clients that may use --listen, one per line");
  serve.add_option("--client-ca", command.client_ca,
                   "PEM file: clients of --listen also need a certificate that it signed");
  serve.add_option("--max-message", command.max_message_bytes, "Bytes of one message");
  serve.add_option("--max-queue", command.max_queue, "Jobs that wait and run, over all clients");
  serve.add_option("--max-jobs", command.max_jobs, "Jobs outstanding for one client");
  serve.add_option("--max-clients", command.max_clients, "Clients on sockets, connected at once");
  serve.add_option("--max-job-time", command.max_job_time_ms, "Milliseconds of one job")
      ->check(CLI::Range(1, 3'600'000));
  serve
      .add_flag("--allow-weak-isolation", command.allow_weak_isolation,
                "Go on where this machine lacks a layer that the work needs; doctor lists them");
  serve
      .add_flag("--allow-busy-gpu", command.allow_busy_gpu,
                "Measure while other processes compute on the GPU; verdicts report it")
      ->envname("WARPWRIGHT_ALLOW_BUSY_GPU");
  serve
      .add_option("--workers-per-gpu", command.workers_per_gpu,
                  "Workers that take turns on a GPU: one measures while others start or compile")
      ->check(CLI::Range(1, 16));
  serve
      .add_option("--idle-exit", command.idle_exit_s,
                  "End after so many seconds without clients and jobs; default: never")
      ->check(CLI::Range(0, 86'400));
  serve.add_option("--metrics", command.metrics, "Prometheus metrics over HTTP on HOST:PORT");
  const std::map<std::string, bool> formats = {{"text", false}, {"json", true}};
  serve.add_option("--log-format", command.log_as_json, "text or json, on stderr")
      ->transform(CLI::Transformer(formats));
  using warpwright::log::Level;
  const std::map<std::string, Level> levels = {{"debug", Level::Debug},
                                               {"info", Level::Info},
                                               {"warning", Level::Warning},
                                               {"error", Level::Error}};
  serve.add_option("--log-level", command.log_level, "debug, info, warning or error")
      ->transform(CLI::CheckedTransformer(levels));
  serve
      .add_option("--linger", command.linger_s,
                  "Seconds that the jobs and verdicts of a lost client are kept")
      ->check(CLI::Range(0, 86'400));
}

void add_quota_options(CLI::App &serve, warpwright::runner::QuotaLimits &quotas) {
  serve.add_option("--quota-jobs", quotas.jobs,
                   "Jobs of one token that wait and run, over all its clients; 0: no limit");
  serve.add_option("--quota-bytes", quotas.bytes, "Bytes of those jobs; 0: no limit");
  serve
      .add_option("--quota-device-seconds", quotas.device_seconds,
                  "Seconds that jobs of one token have a device in an hour; 0: no limit")
      ->check(CLI::NonNegativeNumber);
}

void add_permission_options(CLI::App &serve, warpwright::runner::Permissions &permissions) {
  serve.add_flag("!--no-python", permissions.python,
                 "Take no torch tasks and trace no modules: both run Python of the client");
  serve.add_flag("!--no-host-code", permissions.host_code,
                 "Take no other systems' modules as candidates");
  serve.add_flag("!--no-tools", permissions.tools,
                 "Never run compute-sanitizer or ncu");
  serve.add_flag("--tools-for-remote", permissions.tools_for_remote,
                 "Run them for clients over TLS and of a fleet, too: they are not isolated");
}

void add_replay_options(CLI::App &replay, warpwright::runner::ReplayCommand &command) {
  replay.add_option("VERDICT", command.verdict_path, "What verify --json printed; - is stdin")
      ->required();
  replay.add_option("--runner", command.url, "Where to ask; default: a child");
  replay.add_option("--device", command.device, "cuda:0, cpu; default: as recorded");
  replay.add_flag("--same-seed", command.same_seed, "The same inputs; default: fresh ones");
  replay.add_flag("--json", command.as_json, "Print the comparison as JSON");
}

void add_trace_options(CLI::App &trace, warpwright::runner::TraceCommand &command) {
  trace.add_option("FILE", command.path, "A Python file with a torch module")->required();
  trace.add_option("--model", command.model, "The class; default: Model");
  trace.add_option("--inputs", command.inputs,
                   "Function of the file, or expression over torch, that gives the inputs");
  trace.add_option("--init-inputs", command.init_inputs, "The same of the constructor's arguments");
  trace.add_flag("--eval", command.evaluation, "Trace it in evaluation mode");
  trace.add_option("--runner", command.url, "Where to ask; default: a child");
  trace.add_option("--json", command.json_path, "Write graph and buffers there; - is stdout");
}

/// Option --python, which sets an environment variable for this process and its children.
void add_python_option(CLI::App &subcommand) {
  subcommand.add_option_function<std::string>(
      "--python",
      [](const std::string &python) {
        setenv(warpwright::runner::kPythonVariable, python.c_str(), 1);
      },
      "The Python interpreter that has torch; default: $WARPWRIGHT_PYTHON, else that of "
      "$VIRTUAL_ENV, else python3");
}

void add_launch_options(CLI::App &launch, warpwright::runner::LaunchCommand &command) {
  launch.add_option("TASK", command.task_path, "task.json")->required();
  launch.add_option("PLAN", command.plan_path, "plan.json")->required();
  launch.add_option("--device", command.device, "cuda:N")->required();
  launch.add_option("--size", command.sizes, "n=7,m=3; may be repeated, a run each");
  launch.add_option("--seed", command.seed, "Of the inputs");
  launch.add_option("--repeat", command.repeat, "Runs at each of the sizes")
      ->check(CLI::Range(1, 1'000'000));
  launch.add_option("--leash", command.leash, "Ends when this file's lock is free")->group("");
  launch.add_option("--code-folder", command.code_folder, "For compiled code")->group("");
}

/// Selects the Python of an activated virtual environment, unless another one is chosen.
void use_virtual_environment() {
  const char *chosen = std::getenv(warpwright::runner::kPythonVariable);
  const char *environment = std::getenv("VIRTUAL_ENV");
  if ((chosen && *chosen) || !environment || !*environment)
    return;
  const std::string python = std::string(environment) + "/bin/python";
  if (access(python.c_str(), X_OK) == 0)
    setenv(warpwright::runner::kPythonVariable, python.c_str(), 1);
}

} // namespace

int main(int argc, char **argv) {
  using namespace warpwright::runner;
  CLI::App app{"Verifies GPU kernels against their reference and measures them",
               "warpwright-runner"};
  app.set_version_flag("--version", warpwright::version_line("warpwright-runner"));
  app.require_subcommand(1);

  std::string device;
  ServeCommand serve_command;
  bool as_json = false;
  VerifyCommand verify_command;
  auto *serve =
      app.add_subcommand("serve", "Serve JSON-RPC on stdin and stdout, on a unix socket, over TLS");
  add_serve_options(*serve, serve_command);
  add_permission_options(*serve, serve_command.permissions);
  add_quota_options(*serve, serve_command.quotas);
  auto *verify = app.add_subcommand("verify", "Verify one plan for one task");
  verify->add_option("TASK", verify_command.task_path, "task.json")->required();
  verify->add_option("PLAN", verify_command.plan_path, "plan.json")->required();
  verify->add_option("--device", verify_command.device,
                     "cuda:0, cpu, H200, or several: H200,A100; default: the best");
  verify->add_option("--on", verify_command.on, "The same; may be repeated")->take_all();
  verify->add_option("--timeout", verify_command.timeout_ms, "Milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  verify->add_option(
      "--runner", verify_command.url,
      "ssh://HOST, tls://HOST:PORT?ca=FILE, unix:/path, or amqps:// of a fleet's broker; default: a child");
  verify
      ->add_option("--baseline", verify_command.baselines,
                   "Of a torch module, also against torch.compile or \"torch.compile "
                   "max-autotune-no-cudagraphs\"; eager is always measured")
      ->take_all();
  verify->add_flag(
      "--host-code", verify_command.host_code,
      "The plan may be another system's module: Python and C++ that runs in a separate process");
  verify->add_flag("--no-measure", verify_command.no_measure, "Verify only");
  verify->add_flag("--deep", verify_command.deep, "Also check under compute-sanitizer");
  verify->add_flag("--profile", verify_command.profile, "Also read hardware counters with ncu");
  verify->add_option("--seed", verify_command.seed, "Of all drawings; 0: unpredictable");
  verify->add_flag("--json", verify_command.as_json, "Print the verdict as JSON");
  ReplayCommand replay_command;
  auto *replay =
      app.add_subcommand("replay", "Measure a verdict again: SAME, FASTER, SLOWER, or DIFFERENT");
  add_replay_options(*replay, replay_command);
  TraceCommand trace_command;
  auto *trace = app.add_subcommand("trace", "The op graph of a torch module");
  add_trace_options(*trace, trace_command);
  ConnectCommand connect_command;
  auto *connect = app.add_subcommand(
      "connect", "Stdin and stdout as a line to this user's service here, which is started if needed");
  connect->add_option("--ready", connect_command.ready, "Print this and \" up\" when it answers");
  connect->add_option("--idle", connect_command.idle_s, "Seconds after which an unused service ends")
      ->check(CLI::Range(1, 86'400));
  for (CLI::App *subcommand : {serve, connect, verify, replay, trace})
    add_python_option(*subcommand);
  LaunchCommand launch_command;
  auto *launch =
      app.add_subcommand("launch", "Launch a plan plainly, under tools (internal)")->group("");
  add_launch_options(*launch, launch_command);
  ListingCommand listing_command;
  auto *listing =
      app.add_subcommand("listing", "Machine code of a plan, as JSON (internal)")->group("");
  listing->add_option("PLAN", listing_command.plan_path, "plan.json; - is stdin")->required();
  listing->add_option("--capability", listing_command.capability, "90 for 9.0")->required();
  auto *examine = app.add_subcommand("examine", "Run tools over launches (internal)")->group("");
  AdversaryCommand adversary_command;
  auto *adversary = app.add_subcommand(
      "adversary", "Cheating and broken candidates, each of which must be refused");
  adversary->add_option("--device", adversary_command.device, "cuda:0, cpu; default: the best");
  adversary->add_option("--runner", adversary_command.url, "As for verify");
  adversary->add_option("--case", adversary_command.only, "Only the case of this name");
  adversary->add_flag("--list", adversary_command.list, "Say what there is and run nothing");
  adversary->add_flag("--json", adversary_command.as_json, "As JSON");
  auto *doctor =
      app.add_subcommand("doctor", "Show what this machine has, and how to get missing parts");
  doctor->add_flag("--json", as_json, "As JSON");
  std::string doctor_url;
  doctor->add_option("--runner", doctor_url, "Query this running service, as for verify");
  auto *worker = app.add_subcommand("worker", "One device's worker process (internal)")->group("");
  worker->add_option("--device", device, "cuda:N")->required();
  auto *probe =
      app.add_subcommand("probe", "Time the probe kernel with CUPTI (internal)")->group("");
  probe->add_option("--device", device, "cuda:N")->required();
  auto *calibrate =
      app.add_subcommand("calibrate", "Measure a GPU, compile what judges (internal)")->group("");
  calibrate->add_option("--device", device, "cuda:N")->required();
  auto *devices =
      app.add_subcommand("devices", "The GPUs that the driver sees, as JSON (internal)")->group("");
  auto *readings =
      app.add_subcommand("readings", "NVML's readings of the GPUs (internal)")->group("");
  int capability = 0;
  auto *compile_worker =
      app.add_subcommand("compile-worker", "Compiles ahead (internal)")->group("");
  compile_worker->add_option("--capability", capability, "90 for 9.0")->required();
  EncloseCommand enclose_command;
  auto *enclose =
      app.add_subcommand("enclose", "A Python program in its enclosure (internal)")->group("");
  enclose->add_option("PROGRAM", enclose_command.program, "host, trace")->required();
  enclose->add_option("--device", enclose_command.device, "cuda:N");
  enclose->add_option("--library", enclose_command.library, "The worker's library");
  std::string kind;
  auto *isolation =
      app.add_subcommand("isolation", "Layers of a worker's isolation, as JSON (internal)")
          ->group("");
  isolation->add_option("KIND", kind, "cpu, compiler, cuda, python, candidate")->required();

  CLI11_PARSE(app, argc, argv);
  use_virtual_environment();
  try {
    if (*serve)
      return run_serve(serve_command);
    if (*connect)
      return run_connect(connect_command);
    if (*verify)
      return run_verify(verify_command);
    if (*adversary)
      return run_adversary(adversary_command);
    if (*trace)
      return run_trace(trace_command);
    if (*replay)
      return run_replay(replay_command);
    if (*launch)
      return run_launch(launch_command);
    if (*listing)
      return run_listing(listing_command);
    if (*examine)
      return run_examine();
    if (*doctor)
      return doctor_url.empty() ? run_doctor(as_json) : run_doctor_of_runner(doctor_url, as_json);
    if (*worker)
      return run_cuda_worker(device);
    if (*probe)
      return run_probe(device);
    if (*calibrate)
      return run_calibrate(device);
    if (*devices)
      return run_devices();
    if (*readings)
      return run_readings();
    if (*compile_worker)
      return run_compile_worker(capability);
    if (*enclose)
      return run_enclosed(enclose_command);
    if (*isolation)
      return run_isolation(kind);
  } catch (const std::exception &error) {
    std::cerr << "warpwright-runner: " << error.what() << std::endl;
    return 2;
  }
  return 0;
}
