// Implementation of the SVG shapes, and of the escaping of texts.
#include "server/cli/report/svg_draw.h"

#include "server/cli/report/svg.h"
#include "support/words.h"

#include <array>
#include <cmath>

namespace warpwright::cli::svg {

std::string number(double value) { return printed("%.1f", value); }

std::string compact(double value) { return printed("%.3g", value); }

std::string rate_text(double per_second, const char *unit) {
  constexpr std::array prefixes{"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; per_second >= 1000 && prefix + 1 < prefixes.size(); ++prefix)
    per_second /= 1000;
  return compact(per_second) + " " + prefixes[prefix] + unit;
}

std::string line(double x1, double y1, double x2, double y2, const std::string &style) {
  return "<line x1='" + number(x1) + "' y1='" + number(y1) + "' x2='" + number(x2) + "' y2='" +
         number(y2) + "' class='" + style + "'/>";
}

std::string text(double x, double y, const std::string &content, const char *style,
                 const char *anchor) {
  return "<text x='" + number(x) + "' y='" + number(y) + "' class='" + style + "' text-anchor='" +
         anchor + "'>" + escape_html(content) + "</text>";
}

std::string dot(double x, double y, double radius, const char *style) {
  return "<circle cx='" + number(x) + "' cy='" + number(y) + "' r='" + number(radius) +
         "' class='" + style + "'/>";
}

std::string open(double width, double height, const std::string &title) {
  return "<svg viewBox='0 0 " + number(width) + " " + number(height) + "' role='img' aria-label='" +
         escape_html(title) + "'>";
}

std::string shorten(const std::string &label, std::size_t most) {
  return label.size() <= most ? label : label.substr(0, most - 1) + "\xe2\x80\xa6";
}

std::string bar(double x, double y, double width, double height, const std::string &style) {
  return "<rect x='" + number(x) + "' y='" + number(y) + "' width='" + number(width) +
         "' height='" + number(height) + "' rx='3' class='" + style + "'/>";
}

} // namespace warpwright::cli::svg

namespace warpwright::cli {

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (char c : text)
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      escaped += c;
    }
  return escaped;
}

std::vector<double> nice_ticks(double low, double high, std::size_t at_most) {
  std::vector<double> ticks;
  const double rough = (high - low) / double(at_most),
               power = std::pow(10, std::floor(std::log10(rough)));
  double step = power * 10;
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) {
      step = factor * power;
      break;
    }
  for (double tick = std::ceil(low / step) * step; tick <= high * (1 + 1e-12); tick += step)
    ticks.push_back(tick);
  return ticks;
}

} // namespace warpwright::cli
