// The plots of the HTML report as inline SVG: colours come from the page's style sheet, so that
// they follow light and dark; no script, no external resource. Thread: any.
#pragma once

#include "server/cli/report/report.h"

#include <string>
#include <string_view>

namespace warpwright::cli {

/// Text with &, <, > and quotes escaped for HTML and XML.
std::string escape_html(std::string_view text);

/// Tick positions that people like (1, 2, 5 times powers of ten) inside [low, high]; at least two
/// when low < high.
std::vector<double> nice_ticks(double low, double high, std::size_t at_most);

/// Device time of the original and of each timed variant, fastest first, median and 95% interval.
/// Empty when nothing was timed.
std::string time_plot(const KernelReport &kernel);

/// Where the original and the best lie under the device's measured roofs; a bandwidth bar when no
/// floating-point work is known; empty when times, work or the device's rates are unknown.
std::string roofline_plot(const KernelReport &kernel, const model::DeviceInfo &device);

/// One stacked bar: how many variants had which outcome.
std::string outcome_plot(const KernelReport &kernel);

} // namespace warpwright::cli
