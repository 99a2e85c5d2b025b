#include "runner/metrics/exposition.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warpwright::runner::metrics {
namespace {

std::string number(double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "+Inf" : "-Inf";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string escaped(const std::string &text, bool quotes) {
  std::string result;
  for (const char c : text)
    if (c == '\\' || (quotes && c == '"'))
      result += std::string("\\") + c;
    else if (c == '\n')
      result += "\\n";
    else
      result += c;
  return result;
}

/// Labels in the text format: `a="1",b="2"`, without the braces.
std::string written(const Labels &labels) {
  std::string text;
  for (const auto &[name, value] : labels)
    text += (text.empty() ? "" : ",") + name + "=\"" + escaped(value, true) + "\"";
  return text;
}

void line(std::string &to, const std::string &name, const std::string &labels, double value) {
  to += name + (labels.empty() ? "" : "{" + labels + "}") + " " + number(value) + "\n";
}

} // namespace

Family::Family(Type type, std::string name, std::string help, std::vector<double> bounds)
    : type_(type), name_(std::move(name)), help_(std::move(help)), bounds_(std::move(bounds)) {}

void Family::add(const Labels &labels, double by) { values_[written(labels)] += by; }
void Family::set(const Labels &labels, double value) { values_[written(labels)] = value; }
void Family::forget(const Labels &labels) { values_.erase(written(labels)); }

void Family::observe(const Labels &labels, double value) {
  Histogram &histogram = histograms_[written(labels)];
  histogram.counts.resize(bounds_.size() + 1);
  const auto bucket = std::ranges::lower_bound(bounds_, value) - bounds_.begin();
  ++histogram.counts[static_cast<std::size_t>(bucket)];
  histogram.sum += value;
}

void Family::write(std::string &to) const {
  constexpr const char *kTypes[] = {"counter", "gauge", "histogram"};
  to += "# HELP " + name_ + " " + escaped(help_, false) + "\n";
  to += "# TYPE " + name_ + " " + kTypes[static_cast<int>(type_)] + "\n";
  for (const auto &[labels, value] : values_)
    line(to, name_, labels, value);
  for (const auto &[labels, histogram] : histograms_)
    write_histogram(to, labels, histogram);
}

void Family::write_histogram(std::string &to, const std::string &labels,
                             const Histogram &histogram) const {
  double below = 0;
  const std::string before = labels.empty() ? "" : labels + ",";
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    below += histogram.counts[i];
    const std::string bound = i < bounds_.size() ? number(bounds_[i]) : "+Inf";
    line(to, name_ + "_bucket", before + "le=\"" + bound + "\"", below);
  }
  line(to, name_ + "_sum", labels, histogram.sum);
  line(to, name_ + "_count", labels, below);
}

Family &Registry::make(Family::Type type, std::string name, std::string help,
                       std::vector<double> bounds) {
  return families_.emplace_back(type, std::move(name), std::move(help), std::move(bounds));
}

std::string Registry::text() const {
  std::string text;
  for (const Family &family : families_)
    family.write(text);
  return text;
}

} // namespace warpwright::runner::metrics
