// Counters, gauges and histograms in Prometheus's text format, version 0.0.4. This small
// implementation replaces prometheus-cpp, which Debian has only as a shared library, while the
// runner is a single file.
// Thread: one.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warpwright::runner::metrics {

/// Names and values, in the order of the output.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// One metric with all its label values.
class Family {
public:
  enum class Type { Counter, Gauge, Histogram };
  /// @param name in Prometheus's style: base units; counters end in _total
  /// @param bounds upper bounds of a histogram's buckets, ascending, without +Inf
  Family(Type type, std::string name, std::string help, std::vector<double> bounds = {});

  /// For counters; adding 0 makes the line appear.
  void add(const Labels &labels, double by = 1);
  /// For gauges.
  void set(const Labels &labels, double value);
  /// For gauges: removes the line of an unknown value.
  void forget(const Labels &labels);
  /// For histograms.
  void observe(const Labels &labels, double value);
  void write(std::string &to) const;

private:
  struct Histogram {
    std::vector<double> counts; ///< not cumulative; the last is the bucket of +Inf
    double sum = 0;
  };
  void write_histogram(std::string &to, const std::string &labels,
                       const Histogram &histogram) const;

  Type type_;
  std::string name_, help_;
  std::vector<double> bounds_;
  std::map<std::string, double> values_; ///< by the labels' text
  std::map<std::string, Histogram> histograms_;
};

/// Families in the order of their creation; references stay valid.
class Registry {
public:
  Family &make(Family::Type type, std::string name, std::string help,
               std::vector<double> bounds = {});
  std::string text() const;

private:
  std::deque<Family> families_;
};

} // namespace warpwright::runner::metrics
