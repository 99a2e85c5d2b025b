#include "server/regions/region_search.h"

#include "regions/program.h"
#include "runner/metrics/gpu_readings.h"
#include "server/export/plan_literal.h"
#include "server/regions/range_plan.h"
#include "support/model/json.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace warpwright::server {
namespace {

using nlohmann::json;
using regions::Store;

constexpr const char *kCompiled = "torch.compile+graph", *kCalled = "torch.compile";
/// Least ratio to torch.compile in a CUDA graph of a plan that is faster as called.
constexpr double kLeastInGraph = 0.9;

const model::Baseline *baseline(const model::Verdict &verdict, const std::string &name) {
  for (const model::Baseline &one : verdict.baselines)
    if (one.name == name && one.speedup)
      return &one;
  return nullptr;
}

/// Whether the kernels of other processes kept a plan from being measured.
bool is_disturbed(const TorchOutcome &outcome) {
  const auto beside_others = [](const search::TorchVariant &variant) {
    return std::ranges::any_of(variant.verdict.checks, [](const model::Check &check) { return check.name == runner::kAloneCheck; });
  };
  return !outcome.final_verdict && (outcome.best ? !outcome.unconfirmed.empty() : std::ranges::any_of(outcome.variants, beside_others));
}

/// A plan counts where it is faster in a CUDA graph. One that is about as fast there, and faster as called, since it
/// takes the host less time, counts too: whole graphs decide in the mode in which they are used.
std::string outcome_of(const model::Verdict &verdict, const model::Speedup &in_graph) {
  if (in_graph.low > 1)
    return "faster";
  const model::Baseline *called = baseline(verdict, kCalled);
  return in_graph.ratio >= kLeastInGraph && called && called->speedup->low > 1 ? "faster as called"
                                                                               : "not faster";
}

RegionResult judged(const std::string &key, const TorchOutcome &outcome, bool is_measured) {
  RegionResult result{key, "no plan", "", std::nullopt};
  if (!outcome.best) {
    result.reason = outcome.error                ? describe(*outcome.error)
                    : outcome.variants.empty()   ? "nothing was generated"
                                                 : outcome.variants.back().verdict.message;
    return result;
  }
  if (!is_measured) {
    result.outcome = "verified";
    return result;
  }
  if (!outcome.final_verdict) {
    result.reason = outcome.unconfirmed.empty() ? "it was not measured" : outcome.unconfirmed;
    return result;
  }
  const model::Verdict &verdict = *outcome.final_verdict;
  const model::Baseline *compiled = baseline(verdict, kCompiled);
  const std::optional<model::Speedup> &speedup = compiled ? compiled->speedup : verdict.speedup;
  if (!speedup) {
    result.reason = verdict.message;
    return result;
  }
  result.ratio = speedup->ratio;
  result.outcome = outcome_of(verdict, *speedup);
  return result;
}

/// [name, microseconds] of a measured plan's kernels, operators and fills, in order.
json step_times(const model::Plan &plan, const model::Verdict &verdict) {
  json steps = json::array();
  for (std::size_t i = 0; i < plan.steps.size() && i < verdict.step_ns.size(); ++i) {
    const model::Step &step = plan.steps[i];
    const auto *launch = std::get_if<model::LaunchStep>(&step);
    const auto *aten = std::get_if<model::AtenStep>(&step);
    steps.push_back({launch ? launch->kernel : aten ? aten->op : "fill", verdict.step_ns[i] / 1e3});
  }
  return steps;
}

/// What a search tried, in order, for whoever asks why a region has the plan that it has.
json tried_in(const TorchOutcome &outcome) {
  json tried = json::array();
  for (const search::TorchVariant &variant : outcome.variants) {
    const model::Verdict &verdict = variant.verdict;
    tried.push_back(
        {{"moves", variant.proposal.built.plan.moves},
         {"outcome", model::name(verdict.outcome)},
         {"message", verdict.message},
         {"us", verdict.candidate_time ? json(verdict.candidate_time->median_ns / 1e3) : json()},
         {"steps", step_times(variant.proposal.built.plan, verdict)}});
  }
  return tried;
}

/// The store's record of a plan. Errors: the plan has a step that PyTorch cannot do.
Result<json> record_of(const json &job, const TorchOutcome &outcome, const RegionResult &result, const model::DeviceInfo &device) {
  const TorchTask &task = *outcome.task;
  const model::Plan &plan = outcome.variants[*outcome.best].proposal.built.plan;
  const model::Verdict &verdict = outcome.final_verdict ? *outcome.final_verdict : outcome.variants[*outcome.best].verdict;
  const auto literal = plan_literal(task.task, task.graph, plan, task.patterns,
                                    device.kind == "cuda" ? verified_device(device) : VerifiedDevice{});
  if (!literal)
    return std::unexpected(literal.error());
  return json{{"program", job.at("program")},
              {"plan", *literal},
              {"source", plan.source},
              {"moves", plan.moves},
              {"outcome", result.outcome},
              {"ratio", result.ratio ? json(*result.ratio) : json()},
              {"verdict", model::to_json(verdict)}};
}

/// A job's region. {"program", "profile", "sizes": {"n0": {"hint", "low", "high"}}}; without sizes it has one shape.
SizedRegion region_of(const json &job) {
  SizedRegion region{job.at("program"), job.value("profile", json()), {}};
  for (const auto &[name, sizes] : job.value("sizes", json::object()).items())
    region.symbols[name] = regions::symbol_of(sizes);
  return region;
}

/// Makes the record of a region with symbols serve a range of sizes, or the searched sizes alone with the reason.
void extend_range(json &record, RegionResult &result, const SizedRegion &region, const TorchOutcome &outcome,
                  runner::BlockingClient &client, const model::DeviceInfo &device, const RegionSearchOptions &options,
                  std::stop_token stop, const std::function<void(const std::string &)> &stage) {
  record["range"] = to_json(regions::range_of_one(region.hints(), record.at("plan").get<std::string>()));
  const runner::VerifyOptions measured = final_options(options.verify, options.limits, device);
  const auto plan =
      plan_range(region, outcome.variants[*outcome.best].proposal, client, device, options.verify, measured, stop, stage);
  if (!plan) {
    result.reason = "it serves one size: " + describe(plan.error());
    return;
  }
  if (measured.measure) {
    const model::Baseline *compiled = baseline(plan->verdict, kCompiled);
    const std::string now = compiled ? outcome_of(plan->verdict, *compiled->speedup) : "not faster";
    if (now == "not faster") {
      result.reason = "it serves one size: for a range it is not faster";
      return;
    }
    result.outcome = now;
    result.ratio = compiled->speedup->ratio;
    record["outcome"] = now;
    record["ratio"] = compiled->speedup->ratio;
  }
  record["range"] = to_json(plan->range);
  record["plan"] = plan->literal;
  record["source"] = plan->source;
  record["verdict"] = model::to_json(plan->verdict);
  record["sizes_verified"] = plan->verified;
}

/// Searches regions on several threads, each of which takes the next job that nobody took.
class RegionSearch {
public:
  RegionSearch(const Store &store, runner::BlockingClient &client, const model::DeviceInfo &device,
               const RegionSearchOptions &options, const RegionSearchEvents &events,
               std::stop_token stop)
      : store_(store), client_(client), device_(device), options_(options), events_(events),
        stop_(std::move(stop)),
        keys_(options.keys.empty() ? store.keys(Store::Kind::Job) : options.keys) {}

  Result<void> run() {
    {
      std::vector<std::jthread> threads;
      for (int count = std::min(options_.at_once, static_cast<int>(keys_.size())); count > 0;
           --count)
        threads.emplace_back([this] { search_next_ones(); });
    }
    return result_;
  }

private:
  void search_next_ones() {
    for (std::size_t next = next_++; next < keys_.size(); next = next_++) {
      Result<void> searched;
      if (!stop_.stop_requested() && std::chrono::steady_clock::now() < end_)
        searched = search(keys_[next]);
      const std::scoped_lock lock(mutex_);
      if (!searched)
        result_ = std::unexpected(searched.error());
      if (!result_)
        return;
    }
  }

  void tell(const std::string &key, const std::string &stage) {
    const std::scoped_lock lock(mutex_);
    events_.on_stage(key, stage);
  }

  void tell(const RegionResult &result) {
    const std::scoped_lock lock(mutex_);
    events_.on_result(result, ++done_, keys_.size());
  }

  Result<void> search(const std::string &key) {
    auto job = store_.read(Store::Kind::Job, key);
    if (!job)
      return {};
    const auto stage = [&](const std::string &text) { tell(key, text); };
    const SizedRegion region = region_of(*job);
    const auto module = region.module_at(region.hints());
    if (!module)
      return std::unexpected(module.error());
    stage("tracing");
    const TorchEvents torch_events{{}, stage};
    const TorchOutcome outcome = optimize_torch_module(
        "region " + key.substr(0, 12), key + ".py", *module, client_.trace(*module), client_,
        device_, options_.verify, options_.limits, torch_events, stop_);
    RegionResult result = judged(key, outcome, device_.kind == "cuda" && options_.limits.measure);
    if (result.outcome != "no plan" && result.outcome != "not faster") {
      auto record = record_of(*job, outcome, result, device_);
      if (record && !region.symbols.empty())
        extend_range(*record, result, region, outcome, client_, device_, options_, stop_, stage);
      if (!record) {
        result = {key, "no plan", describe(record.error()), std::nullopt};
      } else if (auto written = store_.write(Store::Kind::Plan, key, *record); !written) {
        return written;
      }
    }
    if (stop_.stop_requested() && result.outcome == "no plan")
      return {}; // it was cut short; the next search repeats it
    if (result.outcome == "no plan" && is_disturbed(outcome)) {
      tell(result); // likewise
      return {};
    }
    (*job)["searched"] = {{"outcome", result.outcome},
                          {"reason", result.reason},
                          {"ratio", result.ratio ? json(*result.ratio) : json()},
                          {"tried", tried_in(outcome)}};
    if (auto written = store_.write(Store::Kind::Job, key, *job); !written)
      return written;
    tell(result);
    return {};
  }

  const Store &store_;
  runner::BlockingClient &client_;
  const model::DeviceInfo &device_;
  const RegionSearchOptions &options_;
  const RegionSearchEvents &events_;
  const std::stop_token stop_;
  const std::vector<std::string> keys_;
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + options_.budget;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_; ///< of what follows, and of calls of `events_`
  std::size_t done_ = 0;
  Result<void> result_;
};

} // namespace

Result<void> search_regions(const Store &store, runner::BlockingClient &client,
                            const model::DeviceInfo &device, const RegionSearchOptions &options,
                            const RegionSearchEvents &events, std::stop_token stop) {
  return RegionSearch(store, client, device, options, events, std::move(stop)).run();
}

} // namespace warpwright::server
