// Layout of the report; all figures come from statistics.h. A plot shows the sorted ratios of all tasks, one curve for
// each baseline, on a logarithmic axis.
#include "server/kernelbench/page.h"

#include "server/cli/report/style.h"
#include "server/cli/report/svg.h"
#include "server/cli/report/svg_draw.h"
#include "support/words.h"
#include "server/kernelbench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace warpwright::server {
namespace {

using cli::escape_html;
using State = BenchResult::State;
namespace svg = cli::svg;

constexpr double kWidth = 900, kHeight = 300, kLeft = 54, kBottom = 34;
constexpr std::pair<const char *, const char *> kCurves[] = {
    {"eager+graph", "reference"}, {"torch.compile+graph", "variant"}, {kBestVariant, "best"}};

std::string decimals(double value, int digits) {
  return printed(("%." + std::to_string(digits) + "f").c_str(), value);
}

std::string cell(const std::string &content, bool numeric = false) {
  return (numeric ? "<td class='n'>" : "<td>") + content + "</td>";
}

std::vector<double> sorted_ratios(const std::vector<BenchResult> &results,
                                  const std::string &baseline) {
  std::vector<double> ratios;
  for (const BenchResult &result : results) {
    if (result.state != State::Verified)
      continue;
    if (baseline == kBestVariant) {
      if (const auto best = best_variant_ratio(result))
        ratios.push_back(best->value);
    } else if (const auto found = result.ratios.find(baseline); found != result.ratios.end()) {
      ratios.push_back(found->second.value);
    }
  }
  std::ranges::sort(ratios);
  return ratios;
}

std::string curve(const std::vector<double> &ratios, const svg::Axis &y, const char *style) {
  std::string drawing;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double x = kLeft + (kWidth - kLeft - 10) * (static_cast<double>(i) + 0.5) /
                                 static_cast<double>(ratios.size());
    drawing += svg::dot(x, y(std::clamp(ratios[i], y.low, y.high)), 2.6, style);
  }
  return drawing;
}

std::string plot(const std::vector<BenchResult> &results) {
  double low = 0.5, high = 4;
  for (const auto &[baseline, style] : kCurves)
    for (const double ratio : sorted_ratios(results, baseline)) {
      low = std::min(low, ratio);
      high = std::max(high, ratio);
    }
  const svg::Axis y{low / 1.05, high * 1.05, kHeight - kBottom, 12, true};
  std::string drawing = svg::open(kWidth, kHeight, "Speedups of all verified tasks, sorted");
  for (double tick = 1.0 / 64; tick <= high * 1.05; tick *= 2)
    if (tick >= y.low) {
      drawing += svg::line(kLeft, y(tick), kWidth - 10, y(tick), tick == 1 ? "baseline" : "grid");
      drawing += svg::text(kLeft - 8, y(tick) + 4, svg::compact(tick) + "\xc3\x97", "tick", "end");
    }
  for (const auto &[baseline, style] : kCurves)
    drawing += curve(sorted_ratios(results, baseline), y, style);
  drawing += svg::text(kWidth / 2, kHeight - 8, "tasks, slowest to fastest", "axis", "middle");
  std::string legend = "<p class='legend'>";
  constexpr const char *kColours[] = {"--reference", "--variant", "--best"};
  for (std::size_t i = 0; i < std::size(kCurves); ++i)
    legend += std::string("<span><i style='background:var(") + kColours[i] + ")'></i>against " +
              kCurves[i].first + "</span>";
  return legend + "</p>" + drawing + "</svg>";
}

std::string summary_rows(const BenchSummary &summary, const std::string &label) {
  std::string rows;
  for (const BaselineSummary &one : summary.baselines)
    rows += "<tr>" + cell(escape_html(label)) + cell(escape_html(one.baseline)) +
            cell(std::to_string(one.measured) + " of " + std::to_string(one.tasks), true) +
            cell(decimals(one.mean, 2), true) + cell(decimals(one.geometric_mean, 3), true) +
            cell(decimals(one.lower_quartile, 2), true) + cell(decimals(one.median, 2), true) +
            cell(decimals(one.upper_quartile, 2), true) +
            cell(decimals(100 * one.fast_1, 0) + "%", true) +
            cell(decimals(100 * one.fast_1_5, 0) + "%", true) +
            cell(decimals(100 * one.fast_2, 0) + "%", true) + "</tr>";
  return rows;
}

std::string summary_table(const std::vector<BenchResult> &results) {
  std::string table =
      "<div class='scroll'><table><tr><th>tasks</th><th>baseline</th><th "
      "class='n'>measured</th><th "
      "class='n'>mean</th><th class='n'>geometric mean</th><th class='n'>lower quartile</th><th "
      "class='n'>median</th><th class='n'>upper quartile</th><th "
      "class='n'>fast<sub>1</sub></th><th "
      "class='n'>fast<sub>1.5</sub></th><th class='n'>fast<sub>2</sub></th></tr>";
  table += summary_rows(summarise(results), "all");
  std::set<int> levels;
  for (const BenchResult &result : results)
    levels.insert(result.level);
  if (levels.size() > 1)
    for (const int level : levels)
      table += summary_rows(summarise(results, level),
                            level ? "level " + std::to_string(level) : "no level");
  return table + "</table></div>";
}

std::string ratio_cell(const BenchResult &result, const std::string &baseline) {
  const auto found = result.ratios.find(baseline);
  if (found == result.ratios.end()) {
    const auto why = result.missing.find(baseline);
    return cell(why == result.missing.end()
                    ? "-"
                    : "<span title='" + escape_html(why->second) + "'>" +
                          (result.wrong.contains(baseline) ? "wrong" : "-") + "</span>",
                true);
  }
  const Ratio &ratio = found->second;
  return "<td class='n' title='" + decimals(ratio.low, 3) + " to " + decimals(ratio.high, 3) +
         "; " + decimals(ratio.baseline_ns / 1000, 2) + " us against " +
         decimals(ratio.candidate_ns / 1000, 2) + " us'>" + decimals(ratio.value, 2) + "</td>";
}

std::string kernels_cell(const BenchResult &result) {
  if (!result.kernels_ran)
    return cell("-");
  return cell(std::string(*result.kernels_ran ? "yes" : "no") + "<small>" +
              escape_html(result.kernels) + "</small>");
}

std::string baseline_heading(const std::string &baseline) {
  return "<th class='n'>" + escape_html(baseline) +
         (baseline.ends_with("+graph") ? "" : ", as called") + "</th>";
}

std::string task_table(const std::vector<BenchResult> &results) {
  const std::vector<std::string> baselines = baselines_of(results);
  std::string table = "<div class='scroll'><table><tr><th>task</th><th>state</th><th>kernels "
                      "ran</th>";
  for (const std::string &baseline : baselines)
    table += baseline_heading(baseline);
  table += "<th class='n'>library share</th><th>what was done</th></tr>";
  for (const BenchResult &result : results) {
    const bool verified = result.state == State::Verified;
    table += verified ? "<tr>" : "<tr class='failed'>";
    table +=
        cell(escape_html(result.id) + "<small>" + escape_html(result.name) + "</small>") +
        cell(std::string(name(result.state)) +
             (result.reason.empty() ? "" : "<small>" + escape_html(result.reason) + "</small>")) +
        kernels_cell(result);
    for (const std::string &baseline : baselines)
      table += ratio_cell(result, baseline);
    table +=
        cell(result.library_share ? decimals(100 * *result.library_share, 0) + "%" : "-", true) +
        cell("<small>" + escape_html(joined(result.moves, " + ")) + "</small>") + "</tr>";
  }
  return table + "</table></div>";
}

/// "2 whose export failed (kernels ran in 31)", and wrong baselines if there are any.
std::string exports_text(const BenchSummary &summary) {
  return std::to_string(summary.export_failed) + " whose export failed (kernels ran in " +
         std::to_string(summary.kernels_ran) + ")" +
         (summary.wrong_baselines > 0
              ? ", " + std::to_string(summary.wrong_baselines) + " with a wrong baseline"
              : "");
}

std::string hero(const BenchSummary &summary) {
  const auto big = [](const std::string &value, const std::string &caption, const char *style) {
    return std::string("<div class='") + style + "'><b>" + value + "</b><span>" + caption +
           "</span></div>";
  };
  return "<div class='hero'>" +
         big(std::to_string(summary.verified) + " of " + std::to_string(summary.tasks),
             "tasks with a verified candidate", "best") +
         big(decimals(summary.baselines[0].geometric_mean, 2) + "\xc3\x97",
             "geometric mean against eager+graph", "") +
         big(decimals(summary.baselines[1].geometric_mean, 2) + "\xc3\x97",
             "against torch.compile+graph", "") +
         big(std::to_string(summary.faster_than_best_variant),
             "faster than the best framework variant by over 1%", "") +
         "</div>";
}

} // namespace

std::string render_bench_page(const BenchPage &page, const std::vector<BenchResult> &results) {
  const BenchSummary summary = summarise(results);
  std::string html = "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
                     "content='width=device-width'><title>" +
                     escape_html(page.title) + "</title><style>" + cli::kReportStyle +
                     "</style><main><h1>" + escape_html(page.title) + "</h1><p class='muted'>" +
                     escape_html(page.date) + ", warpwright " + escape_html(page.version) +
                     "</p><p><code>" + escape_html(page.command) + "</code></p>";
  for (const std::string &note : page.notes)
    html += "<p class='muted'>" + escape_html(note) + "</p>";
  html += "<section><h2>Summary</h2>" + hero(summary) + "<p class='muted'>" +
          std::to_string(summary.verified) + " verified, " + std::to_string(summary.unmeasured) +
          " verified without a measurement, " + std::to_string(summary.no_candidate) +
          " without a candidate, " + exports_text(summary) + ", " +
          std::to_string(summary.degenerate) + " degenerate, " + std::to_string(summary.skipped) +
          " skipped, " + std::to_string(summary.failed) + " lost" +
          (refusals_text(summary).empty() ? "" : "; refused: " + refusals_text(summary)) +
          ". Every task counts; a task that was not verified and measured counts as 1.0. A task is "
          "\"fast\" when the lower end of its 95% interval is.</p>" +
          summary_table(results) + "</section>";
  if (summary.verified > 0)
    html += "<section><h2>Speedups</h2><h3>Device time, cold L2, both sides as CUDA graphs</h3>" +
            plot(results) + "</section>";
  return html + "<section><h2>Tasks</h2>" + task_table(results) + "</section></main></html>\n";
}

std::string render_bench_text(const std::vector<BenchResult> &results) {
  const BenchSummary summary = summarise(results);
  std::string text =
      std::to_string(summary.tasks) + " tasks: " + std::to_string(summary.verified) +
      " verified and measured, " + std::to_string(summary.unmeasured) + " verified only, " +
      std::to_string(summary.no_candidate) + " without a candidate, " + exports_text(summary) +
      ", " + std::to_string(summary.degenerate) + " degenerate, " +
      std::to_string(summary.skipped) + " skipped, " + std::to_string(summary.failed) + " lost\n" +
      (refusals_text(summary).empty() ? "" : "refused: " + refusals_text(summary) + "\n");
  for (const BaselineSummary &one : summary.baselines) {
    char line[256];
    std::snprintf(
        line, sizeof line,
        "%-24s %3d measured  mean %6.2f  geometric mean %6.3f  quartiles %5.2f %5.2f %5.2f  "
        "fast_1 %3.0f%%  fast_1.5 %3.0f%%  fast_2 %3.0f%%\n",
        one.baseline.c_str(), one.measured, one.mean, one.geometric_mean, one.lower_quartile,
        one.median, one.upper_quartile, 100 * one.fast_1, 100 * one.fast_1_5, 100 * one.fast_2);
    text += line;
  }
  return text + std::to_string(summary.faster_than_best_variant) +
         " faster than the best framework variant by over 1%\n";
}

} // namespace warpwright::server
