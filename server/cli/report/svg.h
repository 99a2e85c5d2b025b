// Plots of the HTML report as inline SVG. Colors come from the page's style sheet, which has a
// light and a dark theme. The plots use no script and no external resource. Thread: any.
#pragma once

#include "server/cli/report/report.h"

#include <string>
#include <string_view>

namespace warpwright::cli {

/// Text with &, <, > and quotes escaped for HTML and XML.
std::string escape_html(std::string_view text);

/// Round tick positions (1, 2, 5 times powers of ten) inside [low, high]; at least two when low <
/// high and `at_most` is 5 or more.
std::vector<double> nice_ticks(double low, double high, std::size_t at_most);

/// Device time of the original and of each timed variant, fastest first, median and 95% interval.
/// Empty when nothing was timed.
std::string time_plot(const KernelReport &kernel);

/// Roofline of the original and the best variant under the measured rates of the device; a
/// bandwidth bar when the floating-point work or rate is unknown; empty when times, bytes or the
/// copy rate are unknown.
std::string roofline_plot(const KernelReport &kernel, const model::DeviceInfo &device);

/// One stacked bar: the number of variants with each outcome.
std::string outcome_plot(const KernelReport &kernel);

} // namespace warpwright::cli
