// `doctor`, and the internal subcommands for workers, devices, readings, the probe and isolation.
#include "runner/cuda/compiler.h"
#include "runner/cuda/device.h"
#include "runner/cuda/probe.h"
#include "runner/deep/tools.h"
#include "runner/isolation/requirement.h"
#include "runner/metrics/gpu_readings.h"
#include "runner/service/commands.h"
#include "runner/service/devices.h"
#include "runner/torch/python_programs.h"
#include "runner/worker/service_cache.h"
#include "runner/worker/worker.h"
#include "support/model/json.h"

#include <charconv>
#include <iostream>
#include <unistd.h>

namespace warpwright::runner {
namespace {

using nlohmann::json;

struct Finding {
  std::string what;
  bool found = false;
  std::string detail; ///< description if found; else why it is missing and what to do
  json layers;        ///< of isolation
};

constexpr std::chrono::milliseconds kProbeLimit{10'000}, kTorchLimit{60'000},
    kReadingsInterval{1'000};

Finding find_nvrtc() {
  const auto compiler = cuda::Compiler::make({});
  if (!compiler)
    return {"NVRTC", false, describe(compiler.error())};
  std::string detail = (*compiler)->version() + " (" + (*compiler)->library_path() + ")";
  const auto compiled = (*compiler)->compile({"extern \"C\" __global__ void k() {}", {}, {"k"}});
  if (!compiled)
    return {"NVRTC", false, detail + " cannot compile: " + compiled.error().message};
  return {"NVRTC", true, detail};
}

Finding find_headers() {
  const cuda::ToolkitPaths paths = cuda::find_toolkit();
  if (paths.include_dirs.empty())
    return {"CUDA headers", false,
            "sources that include cuda_fp16.h and the like cannot be compiled; install the "
            "toolkit, or set CUDA_HOME"};
  return {"CUDA headers", true, paths.include_dirs.front().string()};
}

Finding find_cache() {
  const auto directory = cuda::cache_directory();
  std::error_code error;
  if (!directory.empty())
    std::filesystem::create_directories(directory, error);
  if (directory.empty() || error || access(directory.c_str(), W_OK) != 0)
    return {"cache folder", false,
            (directory.empty() ? "none" : directory.string() + " cannot be written") +
                "; every kernel is compiled again. Set XDG_CACHE_HOME"};
  return {"cache folder", true, directory.string()};
}

std::string use_of(deep::Tool tool) {
  switch (tool) {
  case deep::Tool::ComputeSanitizer:
    return "verify --deep";
  case deep::Tool::Ncu:
    return "verify --profile";
  case deep::Tool::Nvdisasm:
    break;
  }
  return "listings of machine code";
}

/// Without these tools, only what use_of() names is unavailable.
Finding find_tool(deep::Tool tool) {
  const auto path = deep::find(tool);
  return {deep::name(tool), path.has_value(),
          path ? path->string() + deep::version_of(*path)
               : describe(path.error()) + " (for " + use_of(tool) + ")"};
}

/// Without torch, only torch tasks on a GPU and tracing are unavailable.
Finding find_torch() {
  const std::string python = python_interpreter();
  const std::string remedy = "; torch modules need it. Name a Python that has torch by --python or "
                             "WARPWRIGHT_PYTHON";
  std::error_code error;
  if (!std::filesystem::exists(torch_folder() / "host.py", error))
    return {"torch", false, torch_folder().string() + " is not there" + remedy};
  const auto run = run_captured(
      {python, "-c", "import sys, torch; print(torch.__version__, 'of', sys.executable)"}, "",
      kTorchLimit);
  if (!run || run->status.code != 0 || run->status.signal != 0)
    return {"torch", false,
            python + (run ? " does not import it" : ": " + describe(run.error())) + remedy};
  return {"torch", true, run->output.substr(0, run->output.find('\n'))};
}

/// Whether this machine's isolation meets the requirement for remote clients, or for local torch
/// modules.
Finding find_requirement(Requirement requirement) {
  std::string missing;
  for (const WorkerKind kind : kWorkerKinds)
    if (const auto layers = layers_here(kind))
      if (const auto lacks = what_is_missing(kind, requirement, *layers); !lacks.empty())
        missing += (missing.empty() ? "" : "; ") + lacks;
  const std::string what = requirement == Requirement::Remote
                               ? "isolation for clients of other machines"
                               : "isolation for torch modules of this machine";
  return {what, missing.empty(), missing.empty() ? "every layer that it needs" : missing, {}};
}

Finding find_isolation(WorkerKind kind) {
  const std::string what = std::string("isolation of the ") + name(kind) + " worker";
  const auto layers = layers_here(kind);
  if (!layers)
    return {what, false, describe(layers.error()), {}};
  Finding finding{what, true, "", to_json(*layers)};
  for (const IsolationLayer &layer : *layers) {
    finding.found &= layer.active;
    finding.detail += (finding.detail.empty() ? "" : "; ") + layer.name +
                      (layer.active ? ": " : " MISSING: ") + layer.detail;
  }
  return finding;
}

std::vector<Finding> examine() {
  std::vector<Finding> findings;
  const FoundDevices found = find_devices();
  for (const FoundDevice &device : found.devices)
    findings.push_back(
        {device.name, true,
         device.info.name + (device.info.driver.empty() ? "" : ", " + device.info.driver)});
  for (const std::string &note : found.notes)
    findings.push_back({note.starts_with("No GPU") ? "GPU" : "CPU backend", false,
                        note.substr(note.find(": ") + 2)});
  findings.push_back(find_nvrtc());
  findings.push_back(find_headers());
  findings.push_back(find_cache());
  findings.push_back(find_torch());
  findings.push_back(find_tool(deep::Tool::ComputeSanitizer));
  findings.push_back(find_tool(deep::Tool::Ncu));
  findings.push_back(find_tool(deep::Tool::Nvdisasm));
  for (const WorkerKind kind : kWorkerKinds)
    findings.push_back(find_isolation(kind));
  for (const Requirement requirement : {Requirement::Local, Requirement::Remote})
    findings.push_back(find_requirement(requirement));
  return findings;
}

} // namespace

Result<std::vector<IsolationLayer>> layers_here(WorkerKind kind) {
  const auto run = TRY(run_captured({executable_path(), "isolation", name(kind)}, "", kProbeLimit));
  const json layers = json::parse(run.output, nullptr, false);
  if (!layers.is_array())
    return fail(describe_exit(run.status) + " " + run.errors);
  return layers_from_json(layers);
}

int run_doctor(bool as_json) {
  const std::vector<Finding> findings = examine();
  bool usable = false;
  json document = json::array();
  for (const Finding &finding : findings) {
    usable =
        usable || (finding.found && (finding.what == "cpu" || finding.what.starts_with("cuda:")));
    document.push_back(
        {{"what", finding.what}, {"found", finding.found}, {"detail", finding.detail}});
    if (!finding.layers.is_null())
      document.back()["isolation"] = finding.layers;
    if (!as_json)
      std::cout << (finding.found ? "found    " : "missing  ") << finding.what << ": "
                << finding.detail << "\n";
  }
  if (as_json)
    std::cout << json{{"usable", usable}, {"findings", document}}.dump(1) << "\n";
  else
    std::cout << (usable ? "This machine can verify kernels.\n"
                         : "This machine can verify nothing: it needs a GPU or the CPU backend.\n");
  return usable ? 0 : 1;
}

int run_cuda_worker(const std::string &device) {
  int ordinal = -1;
  if (device.starts_with("cuda:"))
    std::from_chars(device.data() + 5, device.data() + device.size(), ordinal);
  if (ordinal < 0) {
    std::cerr << "no device " << device << ": a worker's device is cuda:N" << std::endl;
    return 2;
  }
  return run_worker(
      [ordinal] {
        return cuda::make_cuda_device(ordinal, nullptr, std::make_shared<ServiceCache>());
      },
                    cuda_sandbox(WorkerKind::Cuda));
}

int run_readings() { return metrics::write_readings(kReadingsInterval, getppid()); }

int run_isolation(const std::string &kind_name) {
  for (const WorkerKind kind : kWorkerKinds) {
    if (kind_name != name(kind))
      continue;
    auto isolation = Isolation::enter(kind == WorkerKind::Cpu ? Sandbox{} : cuda_sandbox(kind));
    if (!isolation) {
      std::cerr << describe(isolation.error()) << std::endl;
      return 2;
    }
    isolation->seal();
    std::cout << to_json(isolation->layers()).dump() << std::endl;
    return 0;
  }
  std::cerr << "there is no kind of worker " << kind_name << std::endl;
  return 2;
}

int run_enclosed(const EncloseCommand &command) {
  TorchFiles files{torch_folder(), command.library, cuda_sandbox(WorkerKind::Python)};
  if (files.library.empty())
    files.library = files.folder / "libwarpwright-worker.so";
  if (command.program == "trace")
    Supervisor({}).run(trace_program(files));
  if (command.program == "host")
    Supervisor({{kCandidateProgram, candidate_program(files)}})
        .run(host_program(files, command.device));
  std::cerr << "there is no program " << command.program << std::endl;
  return 2;
}

int run_probe(const std::string &device) {
  const auto probe_ns =
      cuda::measure_probe_with_cupti(std::atoi(device.substr(device.find(':') + 1).c_str()));
  std::cout << (probe_ns ? json{{"probe_ns", *probe_ns}}
                         : json{{"error", describe(probe_ns.error())}})
            << std::endl;
  return 0;
}

int run_devices() {
  const auto devices = cuda::list_cuda_devices();
  if (!devices) {
    std::cout << json{{"error", describe(devices.error())}}.dump() << std::endl;
    return 0;
  }
  json list = json::array();
  for (const model::DeviceInfo &device : *devices)
    list.push_back(model::to_json(device));
  std::cout << json{{"devices", list}}.dump() << std::endl;
  return 0;
}

} // namespace warpwright::runner
