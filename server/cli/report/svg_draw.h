// SVG shapes as text, shared by the plots. Coordinates are in units of the viewBox; `style` is a
// class of the page's style sheet. Thread: any.
#pragma once

#include <cmath>
#include <string>

namespace warpwright::cli::svg {

/// Maps a value to a coordinate, linearly or by its logarithm.
struct Axis {
  double low = 0, high = 1, from = 0, to = 1;
  bool logarithmic = false;
  double operator()(double value) const {
    const double share =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return from + share * (to - from);
  }
};

/// One decimal: enough for a coordinate.
std::string number(double value);
/// Three significant digits.
std::string compact(double value);
/// "1.6 TB/s", "51 TFLOP/s".
std::string rate_text(double per_second, const char *unit);
/// The label, cut to `most` letters with an ellipsis.
std::string shorten(const std::string &label, std::size_t most);

std::string open(double width, double height, const std::string &title);
std::string line(double x1, double y1, double x2, double y2, const std::string &style);
/// @param anchor "start", "middle" or "end"
std::string text(double x, double y, const std::string &content, const char *style,
                 const char *anchor = "start");
std::string dot(double x, double y, double radius, const char *style);
std::string bar(double x, double y, double width, double height, const std::string &style);

} // namespace warpwright::cli::svg
