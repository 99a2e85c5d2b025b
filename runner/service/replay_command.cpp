// `replay VERDICT`: a second run of the same task, plan and options, and a comparison of the two
// verdicts.
#include "runner/connect/connect.h"
#include "runner/deep/verdict_comparison.h"
#include "runner/service/commands.h"
#include "runner/service/json_file.h"
#include "runner/service/verdict_table.h"

#include <iomanip>
#include <iostream>

namespace warpwright::runner {
namespace {

using deep::Comparison;
using nlohmann::json;

constexpr const char *kMethod =
    "log-normal errors from both 95% intervals, added in squares; FASTER or SLOWER when the 95% "
    "interval of the ratio lies wholly beyond a margin of 1%, SAME otherwise";

struct Replay {
  model::Verdict before, now;
  deep::VerdictComparison comparison;
};

/// The only verdict in the output of `warpwright optimize --json`, in which each kernel has its
/// best variant's verdict.
Result<json> only_verdict(const json &report) {
  std::string names;
  const json *found = nullptr;
  for (const json &kernel : report["kernels"]) {
    if (!kernel.is_object() || !kernel.contains("verdict") || !kernel["verdict"].is_object())
      continue;
    names += (names.empty() ? "" : ", ") + kernel.value("name", "");
    found = found ? &report : &kernel["verdict"];
  }
  if (!found)
    return fail("the report has no kernel with a verified variant");
  if (found == &report)
    return fail("the report holds several verdicts, of " + names,
                "Give one of them: the member `verdict` of a kernel");
  return *found;
}

Result<model::Verdict> load_verdict(const std::string &path) {
  auto verdict = load_json_file(path, [](const json &document) -> Result<model::Verdict> {
    if (document.is_array())
      return fail("it holds several verdicts", "Give one of them");
    // a verdict contains "kernels", too
    const bool is_report =
        document.is_object() && document.contains("kernels") && !document.contains("outcome");
    auto held = TRY(is_report ? only_verdict(document) : Result<json>(document));
    return model::verdict_from_json(held.is_object() && held.contains("verdict") ? held["verdict"]
                                                                                 : held);
  });
  if (verdict && !verdict->record)
    return fail(
        path + " holds a verdict without a record of its task, plan and options",
        "Take one that `warpwright-runner verify --json` or `warpwright optimize --json` wrote");
  return verdict;
}

Result<Replay> replay(const ReplayCommand &command) {
  auto before = TRY(load_verdict(command.verdict_path));
  const model::Record &record = *before.record;
  VerifyOptions options = record.options;
  options.job.clear();
  if (!command.device.empty())
    options.device = command.device;
  if (!command.same_seed)
    options.seed = 0;
  auto client = TRY(BlockingClient::connect(command.url));
  auto now = TRY(client->verify(record.task, record.plan, options, {},
                                print_stages(command.as_json ? nullptr : &std::cerr)));
  deep::VerdictComparison comparison = deep::compare(before, now);
  return Replay{std::move(before), std::move(now), std::move(comparison)};
}

std::string headline(const deep::VerdictComparison &comparison) {
  if (!comparison.same_outcome)
    return "DIFFERENT OUTCOME";
  const auto change = comparison.change();
  return change ? deep::name(*change) : "SAME OUTCOME";
}

void print(const char *what, double divisor, const char *unit, const Comparison &comparison) {
  const auto interval = [&](const deep::Interval &of, double by) {
    std::cout << of.value / by << " [" << of.low / by << ", " << of.high / by << "]";
  };
  std::cout << "  " << what << unit << ": ";
  interval(comparison.before, divisor);
  std::cout << ", now ";
  interval(comparison.now, divisor);
  std::cout << "\n    now against before: ";
  interval(comparison.ratio, 1);
  std::cout << ": " << deep::name(comparison.change)
            << (comparison.change != deep::Change::Same ? ""
                : comparison.equivalent ? ", equal within 1%"
                                        : ", a difference beyond 1% is neither shown nor excluded")
            << "\n";
}

void print_table(const Replay &replay) {
  const deep::VerdictComparison &comparison = replay.comparison;
  std::cout << headline(comparison) << "\n  " << model::name(replay.before.outcome) << " on "
            << replay.before.date << ", now " << model::name(replay.now.outcome) << ": "
            << replay.now.message << "\n";
  std::cout << std::setprecision(5);
  if (comparison.speedup)
    print("speedup", 1, "", *comparison.speedup);
  if (comparison.candidate_time)
    print("candidate's device time", 1e3, " in us", *comparison.candidate_time);
  if (!comparison.untimed.empty())
    std::cout << "  nothing to time: " << comparison.untimed << "\n";
  for (const std::string &difference : comparison.differences)
    std::cout << "  not the same " << difference << "\n";
  if (comparison.speedup || comparison.candidate_time)
    std::cout << "  method: " << kMethod << "\n";
}

json interval_json(const deep::Interval &interval) {
  return {{"value", interval.value}, {"low", interval.low}, {"high", interval.high}};
}

json comparison_json(const Comparison &comparison) {
  return {{"before", interval_json(comparison.before)},
          {"now", interval_json(comparison.now)},
          {"ratio", interval_json(comparison.ratio)},
          {"result", deep::name(comparison.change)},
          {"equivalent", comparison.equivalent}};
}

json replay_json(const Replay &replay) {
  const deep::VerdictComparison &comparison = replay.comparison;
  json document = {{"result", headline(comparison)},
                   {"outcome_before", model::name(replay.before.outcome)},
                   {"outcome_now", model::name(replay.now.outcome)},
                   {"margin", deep::kMargin},
                   {"method", kMethod},
                   {"differences", comparison.differences},
                   {"verdict", model::to_json(replay.now)}};
  if (comparison.speedup)
    document["speedup"] = comparison_json(*comparison.speedup);
  if (comparison.candidate_time)
    document["candidate_time_ns"] = comparison_json(*comparison.candidate_time);
  if (!comparison.untimed.empty())
    document["untimed"] = comparison.untimed;
  return document;
}

void dump(const json &document) {
  std::cout << document.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
}

} // namespace

int run_replay(const ReplayCommand &command) {
  const auto done = replay(command);
  if (!done) {
    if (command.as_json)
      dump({{"error", {{"message", done.error().message}, {"remedy", done.error().remedy}}}});
    std::cerr << describe(done.error()) << std::endl;
    return 2;
  }
  if (command.as_json)
    dump(replay_json(*done));
  else
    print_table(*done);
  const std::string result = headline(done->comparison);
  return result.starts_with("SAME") || result == deep::name(deep::Change::Faster) ? 0 : 1;
}

} // namespace warpwright::runner
