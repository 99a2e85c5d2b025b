#include "trainer/report/line_plot.h"
#include "trainer/report/page_parts.h"

#include <algorithm>
#include <set>

namespace warpwright::trainer {
namespace {

/// A curve of a value that stages may log.
struct Curve {
  const char *key, *title;
  double rule = 0; ///< value of a horizontal line for comparison; 0: none
  bool log_y = false;
  const char *spread = nullptr; ///< key of a standard deviation, drawn as a band
};

constexpr Curve kRl[] = {{"reward_mean", "Reward, mean of the step (band: one standard deviation)",
                          0, false, "reward_std"},
                         {"speedup_geomean", "Speedup of proposals, geometric mean", 1, true},
                         {"success", "Success: share of proposals that were verified"},
                         {"kl", "KL divergence from the reference policy"},
                         {"entropy", "Entropy of the policy"},
                         {"distinct_share", "Share of distinct proposals"},
                         {"clip_share", "Share of clipped ratios"},
                         {"loss", "Loss"},
                         {"candidates_per_s", "Verified candidates per second"},
                         {"gpu_busy_share", "GPU busy share"}};
constexpr Curve kSupervised[] = {{"loss", "Loss"},
                                 {"accuracy_moves", "Accuracy of moves"},
                                 {"accuracy_analysis", "Accuracy of analysis tokens"},
                                 {"success", "Success: share of proposals that were verified"},
                                 {"validation_loss", "Loss on validation shapes"},
                                 {"learning_rate", "Learning rate"},
                                 {"tokens_per_s", "Tokens a second"}};

std::vector<PlotPoint> points_of(const StageLog &stage, const Curve &curve) {
  std::vector<PlotPoint> points;
  for (const StepPoint &step : stage.steps) {
    const auto value = step.values.find(curve.key);
    if (value == step.values.end())
      continue;
    PlotPoint point{static_cast<double>(step.step), value->second};
    if (curve.spread)
      if (const auto spread = step.values.find(curve.spread); spread != step.values.end()) {
        point.low = value->second - spread->second;
        point.high = value->second + spread->second;
      }
    points.push_back(point);
  }
  return points;
}

/// Moves with their counts, most frequent first.
std::vector<std::pair<std::string, double>> totals_of(const StageLog &stage) {
  std::map<std::string, double> totals;
  for (const StepPoint &step : stage.steps)
    for (const auto &[name, count] : step.techniques)
      totals[name] += count;
  std::vector<std::pair<std::string, double>> ranked(totals.begin(), totals.end());
  std::ranges::stable_sort(ranked, std::greater<>(),
                           [](const auto &entry) { return entry.second; });
  return ranked;
}

double techniques_in(const StepPoint &step) {
  double sum = 0;
  for (const auto &[name, count] : step.techniques)
    sum += count;
  return sum;
}

/// Share of a move among all moves of each step, in percent.
std::vector<PlotPoint> shares_of(const StageLog &stage, const std::string &name) {
  std::vector<PlotPoint> points;
  for (const StepPoint &step : stage.steps) {
    const double all = techniques_in(step);
    const auto found = step.techniques.find(name);
    if (all > 0)
      points.push_back({static_cast<double>(step.step),
                        100 * (found == step.techniques.end() ? 0 : found->second) / all});
  }
  return points;
}

} // namespace

std::string step_plots(const TrainingLog &log, const std::string &stage) {
  const bool rl = stage == "rl";
  std::vector<std::pair<std::string, std::size_t>> entries;
  std::vector<const StageLog *> stages;
  for (const StageLog &one : log.stages)
    if (one.stage == stage && !one.steps.empty()) {
      entries.emplace_back(one.label, stages.size());
      stages.push_back(&one);
    }
  std::string plots;
  const auto add = [&](const Curve &curve) {
    LinePlot plot{.title = curve.title, .x_label = "step", .log_y = curve.log_y};
    if (curve.rule > 0)
      plot.rules = {curve.rule};
    for (std::size_t i = 0; i < stages.size(); ++i)
      plot.series.push_back({stages[i]->label, i, points_of(*stages[i], curve)});
    plots += draw(plot);
  };
  if (rl)
    std::ranges::for_each(kRl, add);
  else
    std::ranges::for_each(kSupervised, add);
  if (plots.empty())
    return "";
  return (entries.size() > 1 ? legend(entries) : "") + "<div class='plots'>" + plots + "</div>";
}

std::string technique_section(const TrainingLog &log) {
  constexpr std::size_t kShown = 8;
  std::string html, plots;
  for (const StageLog &stage : log.stages) {
    const auto ranked = totals_of(stage);
    if (ranked.empty())
      continue;
    LinePlot plot{.title = stage.label + ": share of each move among all, percent",
                  .x_label = "step"};
    std::vector<std::pair<std::string, std::size_t>> entries;
    for (std::size_t i = 0; i < std::min(kShown, ranked.size()); ++i) {
      plot.series.push_back({ranked[i].first, i, shares_of(stage, ranked[i].first)});
      entries.emplace_back(ranked[i].first + " " + shown(ranked[i].second, 0), i);
    }
    plots += "<div>" + draw(plot) + legend(entries) + "</div>";
  }
  return plots.empty() ? "" : "<div class='plots'>" + plots + "</div>";
}

} // namespace warpwright::trainer
