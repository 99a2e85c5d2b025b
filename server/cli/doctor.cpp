// `warpwright doctor`: reports the parts found on this machine, and remedies for missing ones.
//
// Each line is the result of a trial: a kernel is parsed, the runner is asked, the ledger is
// opened. The exit code is 0 when kernels can be optimized here, on a GPU or on the CPU. The
// runner's own doctor reports more details of the runner.
// A table lists the user's runners; the first is the one that is used.
#include "server/cli/commands.h"

#include "analysis/analyze.h"
#include "runner/connect/connect.h"
#include "runner/ledger/ledger.h"
#include "server/cli/doctor_runners.h"
#include "server/cli/files.h"
#include "server/cli/terminal.h"
#include "support/version.h"
#include "support/words.h"
#include "trainer/inference/shipped_weights.h"
#include "trainer/ranker/ranker_file.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace warpwright::cli {
namespace {

namespace fs = std::filesystem;

enum class State { Found, Absent, Broken };

struct Finding {
  std::string name;
  State state = State::Absent;
  std::string detail;
  std::string remedy;
};

std::string name(State state) {
  return state == State::Found ? "found" : state == State::Absent ? "absent" : "broken";
}

Finding check_analysis() {
  const analysis::FileFacts facts = analysis::analyze(
      {"/doctor.cu",
       "__global__ void doctor(float *x) { x[threadIdx.x] = sqrtf(x[threadIdx.x]); }\n"});
  if (facts.kernels.size() == 1 && facts.kernels[0].parameters.size() == 1)
    return {"analysis",
            State::Found,
            "Clang with its own headers built in, no CUDA toolkit needed",
            {}};
  return {"analysis", State::Broken, "a one-line kernel does not parse",
          "Install warpwright again; the file may be damaged"};
}

Finding check_toolkit(const config::FileSettings &settings) {
  if (!settings.toolkit)
    return {"CUDA toolkit", State::Absent, "not found in the usual places",
            "Not needed; with one, what its headers declare is understood in full. Set CUDA_HOME "
            "to name it"};
  const config::Toolkit &toolkit = *settings.toolkit;
  return {"CUDA toolkit",
          State::Found,
          toolkit.path + (toolkit.version.empty() ? "" : ", version " + toolkit.version) + ", by " +
              toolkit.found_by,
          {}};
}

Finding check_ledger(const std::string &wanted) {
  const fs::path path = wanted.empty() ? runner::Ledger::default_path() : fs::path(wanted);
  const auto ledger = runner::Ledger::open(path);
  if (ledger)
    return {"ledger", State::Found,
            path.string() + ", writable" +
                (runner::is_local(runner::file_system_of(path))
                     ? ""
                     : ", with a rollback journal: its file system may be shared by machines"),
            {}};
  return {"ledger", State::Broken, ledger.error().message, ledger.error().remedy};
}

void check_project(const config::FileSettings &settings, std::vector<Finding> &findings) {
  if (settings.compile_commands.empty())
    findings.push_back(
        {"compile_commands.json", State::Absent,
         "none in " + fs::current_path().string() + " or above",
         "Not needed for single files; with CMake say -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or write "
         "flags into .warpwright.toml"});
  else
    findings.push_back({"compile_commands.json", State::Found, settings.compile_commands, {}});
  const consent::ProjectFile &file = settings.project.file;
  if (const auto notice = consent::withheld_notice(file))
    findings.push_back({".warpwright.toml", State::Absent, notice->message, notice->remedy});
  else if (!file.path.empty())
    findings.push_back({".warpwright.toml", State::Found, file.path, {}});
  if (settings.project.runner_error)
    findings.push_back({"project's runner", State::Broken, settings.project.runner_error->message,
                        settings.project.runner_error->remedy});
  for (const Error &problem : settings.problems)
    findings.push_back({"project settings", State::Broken, problem.message, problem.remedy});
}

Finding check_policy() {
  const std::string path = trainer::shipped_ranker();
  const auto ranker = path.empty() ? fail("there are no weights of the learned cost model")
                                   : trainer::load_ranker(path);
  if (!ranker)
    return {"policy", State::Broken, "search, because " + ranker.error().message,
            ranker.error().remedy};
  return {"policy", State::Found, "ranked, " + path + ", trained on " + ranker->weights().trained_on, {}};
}

std::string describe_device(const model::DeviceInfo &device) {
  std::string text = device.name;
  if (!device.compute_capability.empty())
    text += ", compute capability " + device.compute_capability;
  return device.driver.empty() ? text : text + ", " + device.driver;
}

void check_devices(const runner::RunnerInfo &info, std::vector<Finding> &findings) {
  const std::string notes = joined(info.notes, "; ");
  bool gpu = false, cpu = false;
  for (const model::DeviceInfo &device : info.devices) {
    (device.kind == "cuda" ? gpu : cpu) = true;
    findings.push_back(
        {device.kind == "cuda" ? "GPU" : "CPU worker", State::Found, describe_device(device), {}});
  }
  if (!gpu)
    findings.push_back({"GPU", State::Absent, notes.empty() ? "the runner found none" : notes,
                        "Variants can be checked but not timed here; use --runner URL for a "
                        "machine with an NVIDIA GPU"});
  if (!cpu)
    findings.push_back({"CPU worker", State::Absent,
                        notes.empty() ? "the runner was built without it" : notes,
                        "Only needed without a GPU"});
}

void check_runner(const RunnerState &runner, std::vector<Finding> &findings) {
  const Result<runner::RunnerInfo> &info = runner.info;
  if (!info) {
    findings.push_back({"runner", State::Broken, info.error().message, info.error().remedy});
    return;
  }
  findings.push_back({"runner",
                      State::Found,
                      (info->url.empty() ? "started by warpwright" : info->url) +
                          (info->version.empty() ? "" : ", version " + info->version),
                      {}});
  check_devices(*info, findings);
}

bool is_found(const std::vector<Finding> &findings, const std::string &name) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding &finding) {
    return finding.name == name && finding.state == State::Found;
  });
}

void print(const std::vector<Finding> &findings, bool color) {
  for (const Finding &finding : findings) {
    const char *mark = finding.state == State::Found    ? "ok"
                       : finding.state == State::Absent ? "--"
                                                        : "!!";
    const char *code = finding.state == State::Found    ? "32"
                       : finding.state == State::Absent ? "33"
                                                        : "31";
    std::cout << "  " << (color ? std::string("\x1b[") + code + "m" + mark + "\x1b[0m" : mark)
              << "  " << finding.name
              << std::string(finding.name.size() < 23 ? 23 - finding.name.size() : 1, ' ')
              << finding.detail << '\n';
    if (!finding.remedy.empty())
      std::cout << std::string(29, ' ') << finding.remedy << '\n';
  }
}

std::string conclusion(bool analysis, bool cpu, bool gpu) {
  if (!analysis)
    return "Kernels cannot be read, so nothing works until that is repaired.";
  if (gpu)
    return "Ready: variants are verified and measured on the GPU.";
  if (cpu)
    return "Ready to check variants on the CPU. That proves correctness, not speed: for speedups "
           "use a GPU.";
  return "Kernels can be analysed, but no runner can verify variants. See the lines marked !! "
         "above.";
}

} // namespace

int run_doctor(const DoctorOptions &options) {
  const config::FileSettings settings = InputReader().settings_of(fs::current_path() / "doctor.cu");
  std::vector<Finding> findings{check_analysis(), check_toolkit(settings)};
  std::vector<std::string> urls = options.runners;
  if (urls.empty() && !settings.project.runner_error) // check_project reports runner_error
    urls.push_back(settings.project.runner_url);
  std::vector<RunnerState> runners;
  for (const std::string &url : urls)
    runners.push_back(ask_runner(url));
  if (!runners.empty())
    check_runner(runners.front(), findings);
  if (options.runners.empty())
    std::ranges::move(ask_known_runners(urls), std::back_inserter(runners));
  findings.push_back(check_ledger(options.ledger));
  check_project(settings, findings);
  findings.push_back(check_policy());
  const bool analysis = is_found(findings, "analysis");
  const bool cpu = analysis && is_found(findings, "CPU worker"),
             gpu = analysis && is_found(findings, "GPU");
  if (options.json) {
    nlohmann::json checks = nlohmann::json::array();
    for (const Finding &finding : findings)
      checks.push_back({{"name", finding.name},
                        {"state", name(finding.state)},
                        {"detail", finding.detail},
                        {"remedy", finding.remedy}});
    const nlohmann::json document = {{"version", version()},
                                     {"checks", checks},
                                     {"runners", runners_json(runners)},
                                     {"ready", {{"cpu", cpu}, {"gpu", gpu}}}};
    std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  } else {
    std::cout << "warpwright " << version() << "\n\n";
    print(findings, terminal_of(STDOUT_FILENO).color);
    std::cout << '\n' << runner_table(runners);
    std::cout << '\n' << conclusion(analysis, cpu, gpu) << std::endl;
  }
  return cpu || gpu ? kOk : kFailed;
}

} // namespace warpwright::cli
