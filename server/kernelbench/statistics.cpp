#include "server/kernelbench/statistics.h"

#include <algorithm>
#include <cmath>

namespace warpwright::server {
namespace {

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan, as NumPy's default).
double quantile(const std::vector<double> &sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::optional<Ratio> ratio_of(const BenchResult &result, const std::string &baseline) {
  if (result.state != BenchResult::State::Verified)
    return std::nullopt;
  if (baseline == kBestVariant)
    return best_variant_ratio(result);
  const auto found = result.ratios.find(baseline);
  return found == result.ratios.end() ? std::nullopt : std::optional(found->second);
}

BaselineSummary summary_of(const std::vector<const BenchResult *> &results,
                           const std::string &baseline) {
  BaselineSummary summary{.baseline = baseline, .tasks = static_cast<int>(results.size())};
  std::vector<double> values;
  double logarithms = 0, sum = 0;
  int faster = 0, faster_1_5 = 0, faster_2 = 0;
  for (const BenchResult *result : results) {
    const auto ratio = ratio_of(*result, baseline);
    summary.measured += ratio.has_value();
    values.push_back(ratio ? ratio->value : 1);
    sum += values.back();
    logarithms += std::log(values.back());
    faster += ratio && ratio->low > 1;
    faster_1_5 += ratio && ratio->low > 1.5;
    faster_2 += ratio && ratio->low > 2;
  }
  if (values.empty())
    return summary;
  const auto count = static_cast<double>(values.size());
  std::ranges::sort(values);
  summary.mean = sum / count;
  summary.geometric_mean = std::exp(logarithms / count);
  summary.median = quantile(values, 0.5);
  summary.lower_quartile = quantile(values, 0.25);
  summary.upper_quartile = quantile(values, 0.75);
  summary.fast_1 = faster / count;
  summary.fast_1_5 = faster_1_5 / count;
  summary.fast_2 = faster_2 / count;
  return summary;
}

} // namespace

std::optional<Ratio> best_variant_ratio(const BenchResult &result) {
  std::optional<Ratio> best;
  for (const auto &[variant, ratio] : result.ratios)
    if (variant.ends_with("+graph") && (!best || ratio.value < best->value))
      best = ratio;
  return best;
}

std::vector<std::string> baselines_of(const std::vector<BenchResult> &results) {
  std::vector<std::string> names = {"eager+graph", "torch.compile+graph", "eager", "torch.compile"};
  std::set<std::string> found;
  for (const BenchResult &result : results) {
    for (const auto &[name, ratio] : result.ratios)
      found.insert(name);
    for (const auto &[name, why] : result.missing)
      found.insert(name);
  }
  for (const std::string &name : found)
    if (std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

BenchSummary summarise(const std::vector<BenchResult> &results, int level) {
  using State = BenchResult::State;
  std::vector<const BenchResult *> wanted;
  for (const BenchResult &result : results)
    if (level == 0 || result.level == level)
      wanted.push_back(&result);
  BenchSummary summary{.tasks = static_cast<int>(wanted.size())};
  for (const BenchResult *result : wanted) {
    summary.verified += result->state == State::Verified;
    summary.unmeasured += result->state == State::Unmeasured;
    summary.no_candidate += result->state == State::NoCandidate;
    summary.export_failed += result->state == State::ExportFailed;
    summary.kernels_ran += result->kernels_ran.value_or(false);
    summary.wrong_baselines += !result->wrong.empty();
    summary.skipped += result->state == State::Skipped;
    summary.degenerate += result->state == State::Degenerate;
    summary.failed += result->state == State::Failed;
    if (result->host_code && result->state == State::NoCandidate)
      ++summary.refused[result->outcomes.empty() ? "no answer" : result->outcomes.begin()->first];
    summary.constructor_only += result->constructor_only;
    const auto best = ratio_of(*result, kBestVariant);
    summary.faster_than_best_variant += best && best->low > 1.01;
  }
  std::vector<std::string> baselines = baselines_of(results);
  baselines.insert(baselines.begin() + 2, kBestVariant);
  for (const std::string &baseline : baselines)
    summary.baselines.push_back(summary_of(wanted, baseline));
  return summary;
}

std::string refusals_text(const BenchSummary &summary) {
  std::string text;
  for (const auto &[outcome, count] : summary.refused)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + outcome;
  if (summary.constructor_only > 0)
    text += (text.empty() ? "" : "; ") + std::to_string(summary.constructor_only) +
            " verified answers are right only with the parameters that their constructors make";
  return text;
}

nlohmann::json to_json(const BenchSummary &summary) {
  nlohmann::json baselines = nlohmann::json::array();
  for (const BaselineSummary &one : summary.baselines)
    baselines.push_back({{"baseline", one.baseline},
                         {"tasks", one.tasks},
                         {"measured", one.measured},
                         {"mean", one.mean},
                         {"geometric_mean", one.geometric_mean},
                         {"median", one.median},
                         {"lower_quartile", one.lower_quartile},
                         {"upper_quartile", one.upper_quartile},
                         {"fast_1", one.fast_1},
                         {"fast_1.5", one.fast_1_5},
                         {"fast_2", one.fast_2}});
  return {{"tasks", summary.tasks},
          {"verified", summary.verified},
          {"unmeasured", summary.unmeasured},
          {"no_candidate", summary.no_candidate},
          {"export_failed", summary.export_failed},
          {"kernels_ran", summary.kernels_ran},
          {"wrong_baselines", summary.wrong_baselines},
          {"skipped", summary.skipped},
          {"degenerate", summary.degenerate},
          {"failed", summary.failed},
          {"refused", summary.refused},
          {"constructor_only", summary.constructor_only},
          {"faster_than_best_variant_by_1_percent", summary.faster_than_best_variant},
          {"baselines", std::move(baselines)}};
}

} // namespace warpwright::server
