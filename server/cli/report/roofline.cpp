// Roofline plot (Williams et al., CACM 2009) of the original and the best variant against the
// measured rates of the device. A kernel without known floating-point work gets a bandwidth plot.
#include "server/cli/report/svg.h"

#include "server/cli/report/svg_draw.h"

#include <algorithm>
#include <cmath>

namespace warpwright::cli {
namespace {

constexpr double kRoofWidth = 520, kRoofHeight = 300, kRoofLeft = 84, kRoofBottom = 250,
                 kRoofTop = 18, kRoofRight = 505;

/// Bars of achieved bytes a second against the measured copy rate.
std::string bandwidth_plot(double bytes, double copy_rate, const model::Time &reference,
                           const model::Time *best) {
  const svg::Axis axis{0, copy_rate * 1.12, 90, kRoofWidth - 20};
  std::string drawing = svg::open(
      kRoofWidth, 150, "Achieved memory bandwidth against the device's measured copy rate");
  double y = 26;
  auto draw = [&](const char *label, const model::Time &time, const char *style) {
    const double rate = std::min(bytes / (time.median_ns * 1e-9), axis.high);
    drawing += svg::text(80, y + 14, label, "label", "end");
    drawing += svg::bar(90, y, axis(rate) - 90, 20, style);
    const std::string value =
        svg::rate_text(bytes / (time.median_ns * 1e-9), "B/s") + ", " +
        svg::compact(std::round(100 * bytes / (time.median_ns * 1e-9) / copy_rate)) + "%";
    const bool inside = axis(rate) > kRoofWidth - 180;
    drawing += svg::text(inside ? axis(rate) - 8 : axis(rate) + 8, y + 14, value,
                         inside ? "value on-bar" : "value", inside ? "end" : "start");
    y += 34;
  };
  draw("original", reference, "reference");
  if (best)
    draw("best", *best, "best");
  drawing += svg::line(axis(copy_rate), 14, axis(copy_rate), y + 2, "roof");
  drawing += svg::text(axis(copy_rate), y + 20,
                       "measured copy rate " + svg::rate_text(copy_rate, "B/s"), "tick", "end");
  return drawing + "</svg>";
}

std::string roofline(double bytes, double flops, double copy_rate, double peak,
                     const model::Time &reference, const model::Time *best) {
  const double intensity = flops / bytes, ridge = peak / copy_rate;
  const double slowest = flops / (reference.median_ns * 1e-9);
  svg::Axis x{std::min(intensity, ridge) / 8, std::max(intensity, ridge) * 8, kRoofLeft, kRoofRight,
              true};
  svg::Axis y{std::min(slowest, copy_rate * x.low) / 3, peak * 3, kRoofBottom, kRoofTop, true};
  std::string drawing = svg::open(kRoofWidth, kRoofHeight, "Roofline");
  for (double power = std::pow(10, std::ceil(std::log10(x.low))); power <= x.high; power *= 10) {
    drawing += svg::line(x(power), kRoofTop, x(power), kRoofBottom, "grid");
    drawing += svg::text(x(power), kRoofBottom + 16,
                         power < 1 ? svg::compact(power) : std::to_string(std::llround(power)),
                         "tick", "middle");
  }
  for (double power = std::pow(10, std::ceil(std::log10(y.low))); power <= y.high; power *= 10) {
    drawing += svg::line(kRoofLeft, y(power), kRoofRight, y(power), "grid");
    drawing +=
        svg::text(kRoofLeft - 8, y(power) + 4, svg::rate_text(power, "FLOP/s"), "tick", "end");
  }
  drawing += svg::line(x(x.low), y(copy_rate * x.low), x(ridge), y(peak), "roof");
  drawing += svg::line(x(ridge), y(peak), x(x.high), y(peak), "roof");
  drawing += svg::text(kRoofRight - 4, y(peak) - 8, "FP32 " + svg::rate_text(peak, "FLOP/s"),
                       "tick", "end");
  const double middle = std::sqrt(x.low * ridge);
  drawing += svg::text(x(middle) + 12, y(copy_rate * middle) + 12,
                       "copy " + svg::rate_text(copy_rate, "B/s"), "tick");
  const double roof = std::min(peak, copy_rate * intensity);
  drawing += svg::line(x(intensity), y(slowest), x(intensity), y(roof), "baseline");
  auto point = [&](const char *label, const model::Time &time, const char *style) {
    const double rate = flops / (time.median_ns * 1e-9);
    const bool left = x(intensity) > (kRoofLeft + kRoofRight) / 2;
    drawing += svg::dot(x(intensity), y(rate), 5.5, style);
    drawing += svg::text(x(intensity) + (left ? -12 : 12), y(rate) + 4,
                         std::string(label) + ", " + svg::compact(std::round(100 * rate / roof)) +
                             "% of the roof",
                         "value", left ? "end" : "start");
  };
  point("original", reference, "reference");
  if (best)
    point("best", *best, "best");
  drawing += svg::text((kRoofLeft + kRoofRight) / 2, kRoofHeight - 12,
                       "operations a byte that must move, FLOP/B", "axis", "middle");
  return drawing + "</svg>";
}

} // namespace

std::string roofline_plot(const KernelReport &kernel, const model::DeviceInfo &device) {
  const model::Time *reference = reference_time(kernel);
  if (!reference || !kernel.work_bytes || *kernel.work_bytes <= 0 || !device.copy_bytes_per_s)
    return {};
  const model::Time *best = kernel.best && kernel.variants[*kernel.best].verdict.candidate_time
                                ? &*kernel.variants[*kernel.best].verdict.candidate_time
                                : nullptr;
  const double bytes = double(*kernel.work_bytes),
               flops = kernel.work_flops ? double(*kernel.work_flops) : 0;
  if (flops <= 0 || !device.fp32_flops_per_s)
    return bandwidth_plot(bytes, *device.copy_bytes_per_s, *reference, best);
  return roofline(bytes, flops, *device.copy_bytes_per_s, *device.fp32_flops_per_s, *reference,
                  best);
}

} // namespace warpwright::cli
