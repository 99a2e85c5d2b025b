// `verify TASK PLAN`: one job, or one for each of several devices, with the same client that
// editors use.
#include "runner/connect/connect.h"
#include "runner/fleet/address.h"
#include "runner/service/commands.h"
#include "runner/service/json_file.h"
#include "runner/service/verdict_table.h"
#include "support/hash.h"
#include "support/model/json.h"

#include <algorithm>
#include <future>
#include <iostream>
#include <sstream>

namespace warpwright::runner {
namespace {

using nlohmann::json;

/// The devices to verify on, without duplicates; an empty name means the runner's best device.
std::vector<std::string> wanted_devices(const VerifyCommand &command) {
  std::vector<std::string> devices;
  std::stringstream lists;
  lists << command.device;
  for (const std::string &device : command.on)
    lists << "," << device;
  for (std::string device; std::getline(lists, device, ',');)
    if (!device.empty() && std::ranges::find(devices, device) == devices.end())
      devices.push_back(device);
  if (devices.empty())
    devices.emplace_back();
  return devices;
}

/// Job key. In a fleet session, the same command gets the same key, so that it finds the verdict of
/// an interrupted earlier command.
std::string job_key(const VerifyCommand &command, const model::Task &task, const model::Plan &plan,
                    const VerifyOptions &options) {
  const auto address = fleet::parse_fleet_url(command.url);
  if (!address || address->session.empty())
    return "";
  return sha256_hex(model::hash(task) + model::hash(plan) + model::to_json(options).dump());
}

using Verdicts = std::vector<Result<model::Verdict>>; ///< one for each device

/// Verifies on all devices at once. Errors: no task, no plan, no runner.
Result<Verdicts> ask(const VerifyCommand &command, const std::vector<std::string> &devices) {
  auto task = TRY(load_json_file(command.task_path, model::task_from_json));
  auto plan = TRY(load_json_file(command.plan_path, model::plan_from_json));
  auto client = TRY(BlockingClient::connect(command.url));
  std::vector<std::future<Result<model::Verdict>>> running;
  for (const std::string &device : devices)
    running.push_back(std::async(std::launch::async, [&] {
      VerifyOptions options;
      options.device = device;
      options.timeout = std::chrono::milliseconds(command.timeout_ms);
      options.measure = !command.no_measure;
      options.deep = command.deep;
      options.profile = command.profile;
      options.host_code = command.host_code;
      options.baselines = command.baselines;
      options.seed = command.seed;
      options.job = job_key(command, task, plan, options);
      return client->verify(task, plan, options, {},
                            print_stages(command.as_json ? nullptr : &std::cerr,
                                         devices.size() > 1 ? device + ": " : ""));
    }));
  Verdicts verdicts;
  for (auto &one : running)
    verdicts.push_back(one.get());
  return verdicts;
}

json error_json(const Error &error) {
  return {{"error", {{"message", error.message}, {"remedy", error.remedy}}}};
}

void print_json(const json &document) {
  std::cout << document.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
}

} // namespace

int run_verify(const VerifyCommand &command) {
  const std::vector<std::string> devices = wanted_devices(command);
  const auto verdicts = ask(command, devices);
  if (!verdicts) {
    if (command.as_json)
      print_json(error_json(verdicts.error()));
    std::cerr << describe(verdicts.error()) << std::endl;
    return 2;
  }
  int code = 0;
  json documents = json::array();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto &verdict = (*verdicts)[i];
    documents.push_back(verdict ? model::to_json(*verdict) : error_json(verdict.error()));
    if (!verdict)
      std::cerr << (devices.size() > 1 ? devices[i] + ": " : "") << describe(verdict.error())
                << std::endl;
    else if (!command.as_json)
      print_table(std::cout, *verdict);
    code = std::max(code, !verdict ? 2 : verdict->outcome == model::Outcome::Verified ? 0 : 1);
  }
  if (command.as_json)
    print_json(devices.size() == 1 ? documents[0] : documents);
  return code;
}

} // namespace warpwright::runner
