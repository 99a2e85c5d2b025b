// Plots of one kernel: time intervals on one axis, and outcomes. Coordinates are in units of the
// viewBox, which the page scales to the available width.
#include "server/cli/report/svg.h"

#include "server/cli/report/svg_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace warpwright::cli {
namespace {

constexpr double kWidth = 900;
constexpr double kLabelWidth = 320;
constexpr std::size_t kLabelLetters = 38;
constexpr double kRowHeight = 24;
constexpr std::size_t kMostRows = 24;
constexpr double kLogSpread = 6; ///< largest/smallest time above which the axis is logarithmic

struct TimedRow {
  std::string label, note;
  model::Time time;
  const char *style;
};

std::vector<TimedRow> timed_rows(const KernelReport &kernel) {
  std::vector<TimedRow> rows;
  if (const model::Time *time = reference_time(kernel))
    rows.push_back({"original", "", *time, "reference"});
  for (std::size_t index : reading_order(kernel)) {
    const ReportVariant &variant = kernel.variants[index];
    if (!variant.verdict.candidate_time || !variant.verdict.speedup || variant.moves.empty())
      continue;
    if (rows.size() > kMostRows)
      break;
    rows.push_back({moves_text(variant.moves), speedup_text(*variant.verdict.speedup),
                    *variant.verdict.candidate_time, kernel.best == index ? "best" : "variant"});
  }
  return rows;
}

svg::Axis time_axis(const std::vector<TimedRow> &rows) {
  double low = rows.front().time.low_ns, high = rows.front().time.high_ns;
  for (const TimedRow &row : rows) {
    low = std::min(low, row.time.low_ns);
    high = std::max(high, row.time.high_ns);
  }
  svg::Axis axis{0, high * 1.02, kLabelWidth, kWidth - 210, high > low * kLogSpread};
  if (axis.logarithmic)
    axis.low = low / 1.3, axis.high = high * 1.1;
  return axis;
}

std::string draw_row(const TimedRow &row, double y, const svg::Axis &axis) {
  const double low = axis(row.time.low_ns), middle = axis(row.time.median_ns),
               high = axis(row.time.high_ns);
  std::string drawing =
      "<g><title>" +
      escape_html(row.label + ": " + time_text(row.time.median_ns) + " [" +
                  time_text(row.time.low_ns) + ", " + time_text(row.time.high_ns) + "], " +
                  std::to_string(row.time.samples) + " samples") +
      "</title>";
  drawing += svg::text(kLabelWidth - 12, y + 4, svg::shorten(row.label, kLabelLetters),
                       row.style == std::string("variant") ? "label" : "label strong", "end");
  drawing += svg::line(low, y, high, y, std::string("interval ") + row.style);
  drawing += svg::dot(middle, y, 4.5, row.style);
  const char *style = row.style == std::string("best") ? "value strong" : "value";
  drawing += svg::text(high + 10, y + 4, time_text(row.time.median_ns), style);
  return drawing + svg::text(kWidth, y + 4, row.note, style, "end") + "</g>";
}

} // namespace

std::string time_plot(const KernelReport &kernel) {
  const std::vector<TimedRow> rows = timed_rows(kernel);
  if (rows.size() < 2)
    return {};
  const svg::Axis axis = time_axis(rows);
  const double bottom = 14 + kRowHeight * double(rows.size()), height = bottom + 38;
  std::string drawing = svg::open(kWidth, height, "Device time of each variant of " + kernel.name);
  std::vector<double> ticks;
  if (axis.logarithmic) {
    for (double power = std::pow(10, std::floor(std::log10(axis.low))); power <= axis.high;
         power *= 10)
      for (double factor : {1.0, 2.0, 5.0})
        if (factor * power >= axis.low && factor * power <= axis.high)
          ticks.push_back(factor * power);
  } else {
    ticks = nice_ticks(0, axis.high, 6);
  }
  for (double tick : ticks) {
    drawing += svg::line(axis(tick), 6, axis(tick), bottom, "grid");
    drawing += svg::text(axis(tick), bottom + 16, time_text(tick), "tick", "middle");
  }
  drawing += svg::line(axis(rows.front().time.median_ns), 6, axis(rows.front().time.median_ns),
                       bottom, "baseline");
  drawing +=
      svg::text((axis.from + axis.to) / 2, bottom + 34,
                axis.logarithmic ? "device time, logarithmic" : "device time", "axis", "middle");
  for (std::size_t i = 0; i < rows.size(); ++i)
    drawing += draw_row(rows[i], 14 + kRowHeight * (double(i) + 0.5), axis);
  return drawing + "</svg>";
}

std::string outcome_plot(const KernelReport &kernel) {
  if (kernel.variants.empty())
    return {};
  constexpr std::array outcomes{model::Outcome::Verified,    model::Outcome::CompileFailed,
                                model::Outcome::WrongResult, model::Outcome::Timeout,
                                model::Outcome::Crash,       model::Outcome::SuspectedCheat,
                                model::Outcome::Unsupported};
  std::string bar, legend;
  double x = 0;
  for (model::Outcome outcome : outcomes) {
    const auto count = std::count_if(
        kernel.variants.begin(), kernel.variants.end(),
        [&](const ReportVariant &variant) { return variant.verdict.outcome == outcome; });
    if (count == 0)
      continue;
    const double width = kWidth * double(count) / double(kernel.variants.size());
    const std::string style = "outcome-" + std::to_string(int(outcome));
    bar += svg::bar(x, 0, std::max(1.0, width - 2), 16, style);
    legend += "<span><i class='" + style + "'></i>" + std::to_string(count) + " " +
              outcome_text(outcome) + "</span>";
    x += width;
  }
  return svg::open(kWidth, 16,
                   "Outcomes of " + std::to_string(kernel.variants.size()) + " variants") +
         bar + "</svg><p class='legend'>" + legend + "</p>";
}

} // namespace warpwright::cli
