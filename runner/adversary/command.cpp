// Command `adversary`: runs every case through a real service, one after the other.
//
// One service and one client handle all cases, so a candidate that breaks a worker or the protocol
// also affects later cases. Thread: the caller's.
#include "runner/adversary/families.h"
#include "runner/adversary/judge.h"
#include "runner/connect/connect.h"
#include "runner/adversary/command.h"
#include "support/model/json.h"

#include <algorithm>
#include <iostream>

namespace warpwright::runner {
namespace {

using namespace adversary;
using nlohmann::json;

constexpr std::chrono::milliseconds kMeasureBudget{300};
constexpr int kNothingRan = 2;

struct SkippedCase {
  const Case *subject;
  std::string reason;
};

struct Report {
  model::DeviceInfo device;
  std::vector<CaseResult> results;
  std::vector<SkippedCase> skipped;
  std::size_t count(bool (*property)(const CaseResult &)) const {
    return static_cast<std::size_t>(std::count_if(results.begin(), results.end(), property));
  }
};

void print(const CaseResult &result) {
  std::cout << (result.as_expected ? "ok      " : "FAILED  ")
            << (result.refused ? "refused   " : "accepted  ") << result.subject->name << ": "
            << text({result.outcome, result.check}) << "\n";
  if (!result.as_expected)
    std::cout << "          expected " << text(result.expected) << "; got: " << result.message
              << "\n";
  std::cout.flush();
}

VerifyOptions options_for(const Case &subject, const AdversaryCommand &command) {
  VerifyOptions options;
  options.device = command.device;
  options.timeout = std::chrono::milliseconds(subject.timeout_ms);
  options.measure_budget = kMeasureBudget;
  return options;
}

/// Finds the command's device by one honest job. A missing device is an error, because its answers
/// would otherwise count as refusals.
Result<model::DeviceInfo> find_device(BlockingClient &client, const AdversaryCommand &command,
                                      const std::vector<Case> &cases) {
  const Case &honest = *std::find_if(cases.begin(), cases.end(), is_honest);
  VerifyOptions options = options_for(honest, command);
  options.measure = false;
  const auto verdict = TRY(client.verify(honest.task, honest.candidate, options, {}));
  return verdict.device;
}

Report run_cases(BlockingClient &client, const model::DeviceInfo &device,
                 const AdversaryCommand &command, const std::vector<Case> &cases) {
  Report report{.device = device};
  for (const Case &subject : cases) {
    if (!command.only.empty() && subject.name != command.only)
      continue;
    const OnDevice &here = device.kind == "cpu" ? subject.cpu : subject.gpu;
    if (here.accepted.empty()) {
      report.skipped.push_back({&subject, here.why_not});
      continue;
    }
    const auto verdict =
        client.verify(subject.task, subject.candidate, options_for(subject, command), {});
    report.results.push_back(judge(subject, here.accepted, verdict));
    if (!command.as_json)
      print(report.results.back());
  }
  return report;
}

bool failed(const CaseResult &result) { return !result.as_expected; }
bool refused_cheat(const CaseResult &result) {
  return result.refused && !is_honest(*result.subject);
}
bool accepted_honest(const CaseResult &result) {
  return !result.refused && is_honest(*result.subject);
}

void print_json(const Report &report) {
  json document = {{"device", model::to_json(report.device)},
                   {"cases", json::array()},
                   {"skipped", json::array()},
                   {"refused", report.count(refused_cheat)},
                   {"honest_verified", report.count(accepted_honest)},
                   {"unexpected", report.count(failed)}};
  for (const CaseResult &result : report.results)
    document["cases"].push_back(to_json(result));
  for (const SkippedCase &skipped : report.skipped)
    document["skipped"].push_back({{"name", skipped.subject->name},
                                   {"family", skipped.subject->family},
                                   {"reason", skipped.reason}});
  std::cout << document.dump(1, ' ', false, json::error_handler_t::replace) << std::endl;
}

void print_summary(const Report &report) {
  for (const SkippedCase &skipped : report.skipped)
    std::cout << "skipped           " << skipped.subject->name << ": " << skipped.reason << "\n";
  std::cout << report.count(refused_cheat) << " cheats and broken candidates refused, "
            << report.count(accepted_honest) << " honest ones verified, " << report.skipped.size()
            << " skipped, " << report.count(failed) << " not as expected, on " << report.device.name
            << std::endl;
}

int list_cases(const std::vector<Case> &cases, bool as_json) {
  json document = json::array();
  for (const Case &subject : cases) {
    const auto texts = [](const OnDevice &where) {
      json list = json::array();
      for (const Expectation &expectation : where.accepted)
        list.push_back(text(expectation));
      return list.empty() ? json("skipped: " + where.why_not) : list;
    };
    document.push_back({{"name", subject.name},
                        {"family", subject.family},
                        {"cheat", subject.cheat},
                        {"cpu", texts(subject.cpu)},
                        {"gpu", texts(subject.gpu)}});
    if (!as_json)
      std::cout << subject.family << " / " << subject.name << ": " << subject.cheat << "\n";
  }
  if (as_json)
    std::cout << document.dump(1) << "\n";
  return 0;
}

int nothing(const AdversaryCommand &command, const Error &error) {
  if (command.as_json)
    std::cout << json{{"error", {{"message", error.message}, {"remedy", error.remedy}}}}.dump(1)
              << "\n";
  std::cerr << describe(error) << std::endl;
  return kNothingRan;
}

} // namespace

int run_adversary(const AdversaryCommand &command) {
  const std::vector<Case> cases = all_cases();
  if (command.list)
    return list_cases(cases, command.as_json);
  auto client = BlockingClient::connect(command.url);
  if (!client)
    return nothing(command, client.error());
  const auto device = find_device(**client, command, cases);
  if (!device)
    return nothing(command, device.error());
  const Report report = run_cases(**client, *device, command, cases);
  if (report.results.empty() && report.skipped.empty())
    return nothing(command,
                   {"there is no case " + command.only, "See warpwright-runner adversary --list"});
  if (command.as_json)
    print_json(report);
  else
    print_summary(report);
  if (report.results.empty())
    return kNothingRan;
  return report.count(failed) == 0 ? 0 : 1;
}

} // namespace warpwright::runner
