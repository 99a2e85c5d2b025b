#include "trainer/report/line_plot.h"

#include "server/cli/report/svg.h"
#include "server/cli/report/svg_draw.h"

#include <algorithm>
#include <cmath>

namespace warpwright::trainer {
namespace {

namespace svg = cli::svg;
using cli::escape_html;

constexpr double kWidth = 460, kHeight = 220, kLeft = 52, kRight = 12, kTop = 10, kBottom = 34;
constexpr double kRowHeight = 19, kRowsLeft = 300, kRowsWidth = 960;

struct Extent {
  double low = 0, high = 1;
};

Extent widened(double low, double high, bool logarithmic) {
  if (logarithmic)
    return {low / 1.08, high * 1.08};
  const double margin = high > low ? 0.06 * (high - low) : std::max(0.5, 0.1 * std::abs(high));
  return {low - margin, high + margin};
}

std::vector<double> ticks_of(const Extent &extent, bool logarithmic) {
  if (!logarithmic)
    return cli::nice_ticks(extent.low, extent.high, 5);
  std::vector<double> ticks;
  for (double tick = std::exp2(std::ceil(std::log2(extent.low))); tick <= extent.high; tick *= 2)
    ticks.push_back(tick);
  return ticks.size() >= 3 ? ticks : cli::nice_ticks(extent.low, extent.high, 5);
}

std::string polyline(const std::vector<std::pair<double, double>> &points,
                     const std::string &style) {
  std::string text = "<polyline class='" + style + "' points='";
  for (const auto &[x, y] : points)
    text += svg::number(x) + "," + svg::number(y) + " ";
  return text + "'/>";
}

std::string band(const std::vector<PlotPoint> &points, const svg::Axis &x, const svg::Axis &y,
                 const std::string &style) {
  std::string forward, backward;
  for (const PlotPoint &point : points) {
    if (point.low >= point.high)
      return "";
    const auto at = [&](double value) {
      return svg::number(x(point.x)) + "," + svg::number(y(std::clamp(value, y.low, y.high))) + " ";
    };
    forward += at(point.high);
    backward = at(point.low) + backward;
  }
  return "<polygon class='band " + style + "' points='" + forward + backward + "'/>";
}

/// Mean over a window of a fifteenth of the points, at least three points; shorter at the ends.
std::vector<std::pair<double, double>> running_mean(const std::vector<PlotPoint> &points,
                                                    const svg::Axis &x, const svg::Axis &y) {
  const std::size_t half = std::max<std::size_t>(1, points.size() / 30);
  std::vector<std::pair<double, double>> mean;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t reach = std::min({half, i, points.size() - 1 - i});
    double sum = 0;
    for (std::size_t j = i - reach; j <= i + reach; ++j)
      sum += points[j].y;
    mean.emplace_back(x(points[i].x), y(sum / static_cast<double>(2 * reach + 1)));
  }
  return mean;
}

std::string draw_series(const PlotSeries &series, const LinePlot &plot, const svg::Axis &x,
                        const svg::Axis &y) {
  const std::string colour = "s" + std::to_string(series.colour % 8);
  std::vector<std::pair<double, double>> raw;
  for (const PlotPoint &point : series.points)
    raw.emplace_back(x(point.x), y(point.y));
  std::string drawing = band(series.points, x, y, colour);
  if (plot.marks_points || raw.size() < 8) {
    drawing += polyline(raw, "curve " + colour);
    for (const auto &[px, py] : raw)
      drawing += svg::dot(px, py, 3, colour.c_str());
    return drawing;
  }
  return drawing + polyline(raw, "curve faint " + colour) +
         polyline(running_mean(series.points, x, y), "curve " + colour);
}

std::string axes(const LinePlot &plot, const svg::Axis &x, const svg::Axis &y, const Extent &wide,
                 const Extent &tall) {
  std::string drawing;
  for (const double tick : ticks_of(tall, plot.log_y)) {
    drawing += svg::line(kLeft, y(tick), kWidth - kRight, y(tick), "grid");
    const bool zero = std::abs(tick) < 1e-9 * (tall.high - tall.low); // not "-0"
    drawing += svg::text(kLeft - 7, y(tick) + 4, zero ? "0" : svg::compact(tick), "tick", "end");
  }
  for (const double tick : ticks_of(wide, plot.log_x))
    if (tick >= wide.low && tick <= wide.high)
      drawing += svg::text(x(tick), kHeight - kBottom + 15, svg::compact(tick), "tick", "middle");
  for (const double rule : plot.rules)
    if (rule > tall.low && rule < tall.high)
      drawing += svg::line(kLeft, y(rule), kWidth - kRight, y(rule), "baseline");
  return drawing +
         svg::text((kLeft + kWidth - kRight) / 2, kHeight - 4, plot.x_label, "axis", "middle");
}

} // namespace

std::string draw(const LinePlot &plot) {
  double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
  LinePlot shown = plot;
  for (PlotSeries &series : shown.series) {
    std::erase_if(series.points, [&](const PlotPoint &point) {
      return !std::isfinite(point.y) || (plot.log_y && point.y <= 0) ||
             (plot.log_x && point.x <= 0);
    });
    for (const PlotPoint &point : series.points) {
      const bool has_band = point.low < point.high && (!plot.log_y || point.low > 0);
      x_low = std::min(x_low, point.x);
      x_high = std::max(x_high, point.x);
      y_low = std::min({y_low, point.y, has_band ? point.low : point.y});
      y_high = std::max({y_high, point.y, has_band ? point.high : point.y});
    }
  }
  if (x_low > x_high)
    return "";
  const Extent wide = x_low < x_high
                          ? (plot.log_x ? widened(x_low, x_high, true) : Extent{x_low, x_high})
                          : Extent{x_low - 0.5, x_high + 0.5};
  const Extent tall = widened(y_low, y_high, plot.log_y);
  const svg::Axis x{wide.low, wide.high, kLeft, kWidth - kRight, plot.log_x};
  const svg::Axis y{tall.low, tall.high, kHeight - kBottom, kTop, plot.log_y};
  std::string drawing = svg::open(kWidth, kHeight, plot.title) + axes(plot, x, y, wide, tall);
  for (const PlotSeries &series : shown.series)
    if (!series.points.empty())
      drawing += draw_series(series, shown, x, y);
  return "<figure><figcaption>" + escape_html(plot.title) + "</figcaption>" + drawing +
         "</svg></figure>";
}

std::string draw_ratios(const std::string &title, const std::vector<PlotBar> &rows) {
  double low = 1, high = 1;
  for (const PlotBar &row : rows)
    for (const auto &[colour, value] : row.dots) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (rows.empty() || low <= 0)
    return "";
  const Extent wide = widened(low, std::max(high, 1.5), true);
  const double height = kRowHeight * static_cast<double>(rows.size()) + 30;
  const svg::Axis x{wide.low, wide.high, kRowsLeft, kRowsWidth - 20, true};
  std::string drawing = svg::open(kRowsWidth, height, title);
  for (const double tick : ticks_of(wide, true)) {
    drawing += svg::line(x(tick), 0, x(tick), height - 24, tick == 1 ? "baseline" : "grid");
    drawing += svg::text(x(tick), height - 8, svg::compact(tick) + "\xc3\x97", "tick", "middle");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = kRowHeight * (static_cast<double>(i) + 0.5);
    drawing += svg::text(kRowsLeft - 12, y + 4, svg::shorten(rows[i].label, 44), "label", "end");
    for (const auto &[colour, value] : rows[i].dots)
      drawing += svg::dot(x(value), y, 4, ("s" + std::to_string(colour % 8)).c_str());
  }
  return drawing + "</svg>";
}

std::string legend(const std::vector<std::pair<std::string, std::size_t>> &entries) {
  std::string text = "<p class='legend'>";
  for (const auto &[label, colour] : entries)
    text += "<span><i class='k" + std::to_string(colour % 8) + "'></i>" + escape_html(label) +
            "</span>";
  return text + "</p>";
}

} // namespace warpwright::trainer
