// Curves over steps as inline SVG: each series faint as it was, and firm as a running mean; bands for intervals. Colours are classes of the
// page's style (page_style.h), so that they follow light and dark. Thread: any.
#pragma once

#include <string>
#include <vector>

namespace warpwright::trainer {

struct PlotPoint {
  double x = 0, y = 0;
  double low = 0, high = 0; ///< of the band; equal: none
};

struct PlotSeries {
  std::string label;
  std::size_t colour = 0; ///< index of the palette
  std::vector<PlotPoint> points;
};

struct LinePlot {
  std::string title, x_label;
  std::vector<PlotSeries> series;
  bool log_x = false, log_y = false;
  bool marks_points = false; ///< dots and straight lines instead of running means
  std::vector<double> rules; ///< horizontal lines at these values, if in range
};

/// Title, curves and axes; empty where no series has a point.
std::string draw(const LinePlot &plot);

struct PlotBar {
  std::string label;
  std::vector<std::pair<std::size_t, double>> dots; ///< colour and value
};
/// A row a label, dots on a common logarithmic axis around 1: speedups.
std::string draw_ratios(const std::string &title, const std::vector<PlotBar> &rows);

/// "label" with its colour, one after another.
std::string legend(const std::vector<std::pair<std::string, std::size_t>> &entries);

} // namespace warpwright::trainer
