// Line plots as inline SVG: each series as a faint curve, with its running mean as a firm curve and intervals as bands.
//
// Colors are classes of the page's style (page_style.h), so that they follow the light and dark themes. Thread: any.
#pragma once

#include <string>
#include <vector>

namespace warpwright::trainer {

struct PlotPoint {
  double x = 0, y = 0;
  double low = 0, high = 0; ///< of the band; equal: no band
};

struct PlotSeries {
  std::string label;
  std::size_t colour = 0; ///< palette index
  std::vector<PlotPoint> points;
};

struct LinePlot {
  std::string title, x_label;
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;
  bool marks_points = false; ///< dots and straight lines instead of running means
  std::vector<double> rules; ///< horizontal lines at these values, if in range
};

/// Draws title, curves and axes; empty if no series has a point.
std::string draw(const LinePlot &plot);

struct PlotBar {
  std::string label;
  std::vector<std::pair<std::size_t, double>> dots; ///< color and value
};
/// Draws speedups as dots, one row per label, on a common logarithmic axis that includes 1.
std::string draw_ratios(const std::string &title, const std::vector<PlotBar> &rows);

/// A legend of labels with their colors.
std::string legend(const std::vector<std::pair<std::string, std::size_t>> &entries);

} // namespace warpwright::trainer
