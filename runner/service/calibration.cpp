// Calibration of a GPU in two child processes, neither of which sees client data. `calibrate` makes
// the device and compiles the checks; `probe` measures the probe kernel under CUPTI, which would
// slow the rate measurements down.
#include "runner/service/calibration.h"
#include "runner/cuda/device.h"
#include "runner/cuda/probe.h"
#include "runner/cuda/rates.h"
#include "runner/service/commands.h"
#include "runner/service/devices.h"
#include "runner/verify/checker.h"
#include "runner/verify/compile_cache.h"
#include "support/process.h"
#include "support/version.h"

#include <charconv>
#include <iostream>

namespace warpwright::runner {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kLimit{60'000};

/// Store entry name: differs for each GPU, driver and build, because other builds have other
/// kernels.
std::string name_of(const model::DeviceInfo &info) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path self = executable_path();
  return "calibration\n" + info.identifier + "\n" + info.driver + "\n" + version() + "\n" +
         std::to_string(fs::file_size(self, error)) + "\n" +
         std::to_string(fs::last_write_time(self, error).time_since_epoch().count());
}

json ask(const std::string &subcommand, const std::string &device,
         const std::vector<std::string> &environment) {
  const auto run = run_captured({executable_path(), subcommand, "--device", device}, "", kLimit,
                                {.environment = environment});
  json answer = run ? json::parse(run->output, nullptr, false) : json();
  return answer.is_object() ? answer : json::object();
}

std::string variable(const char *name, const json &value) {
  return std::string(name) + "=" + value.dump();
}

} // namespace

std::vector<std::string> calibration_of(const std::string &device, const model::DeviceInfo &info,
                                        const CodeShelves &shelves) {
  const std::string name = name_of(info);
  if (const auto known = shelves.store().read(name))
    return json::parse(*known).get<std::vector<std::string>>();
  std::vector<std::string> variables;
  const json measured = ask("calibrate", device, {});
  for (const json &entry : measured.value("code", json::array()))
    shelves.keep_of_judge(entry.value("key", ""), entry.value("code", json()));
  if (measured.contains("rates"))
    variables.push_back(variable(cuda::kRatesVariable, measured["rates"]));
  const json probe = ask("probe", device, variables);
  if (probe.contains("probe_ns"))
    variables.push_back(variable(cuda::kProbeVariable, probe["probe_ns"]));
  if (measured.contains("rates"))
    shelves.store().write(name, json(variables).dump());
  return variables;
}

int run_calibrate(const std::string &device) {
  int ordinal = 0;
  std::from_chars(device.data() + device.find(':') + 1, device.data() + device.size(), ordinal);
  const auto compiled = std::make_shared<MemoryCache>();
  auto made = cuda::make_cuda_device(ordinal, nullptr, compiled);
  if (!made) {
    std::cout << json{{"error", describe(made.error())}} << std::endl;
    return 0;
  }
  compile_checker_ahead(**made);
  json answer = {{"rates", cuda::rates_to_json((*made)->info())}, {"code", json::array()}};
  for (const auto &[key, code] : compiled->entries)
    answer["code"].push_back({{"key", key}, {"code", to_json(code)}});
  std::cout << answer << std::endl;
  return 0;
}

} // namespace warpwright::runner
