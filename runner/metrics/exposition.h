// Counters, gauges and histograms as Prometheus's text format, version 0.0.4. Small on purpose:
// prometheus-cpp would do, but Debian has it as a shared library only, and the runner is one file.
// Thread: one.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace warpwright::runner::metrics {

/// In the order in which they are to be written.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// One metric with all its label values.
class Family {
public:
  enum class Type { Counter, Gauge, Histogram };
  /// @param name as Prometheus wants it: base units, counters end in _total
  /// @param bounds upper bounds of a histogram's buckets, ascending, without +Inf
  Family(Type type, std::string name, std::string help, std::vector<double> bounds = {});

  /// Counters; 0 makes the line appear.
  void add(const Labels &labels, double by = 1);
  /// Gauges.
  void set(const Labels &labels, double value);
  /// Gauges: what is not known has no line.
  void forget(const Labels &labels);
  /// Histograms.
  void observe(const Labels &labels, double value);
  void write(std::string &to) const;

private:
  struct Histogram {
    std::vector<double> counts; ///< not cumulative; the last is +Inf's
    double sum = 0;
  };
  void write_histogram(std::string &to, const std::string &labels,
                       const Histogram &histogram) const;

  Type type_;
  std::string name_, help_;
  std::vector<double> bounds_;
  std::map<std::string, double> values_; ///< by the labels as they are written
  std::map<std::string, Histogram> histograms_;
};

/// Families in the order of their making; references stay valid.
class Registry {
public:
  Family &make(Family::Type type, std::string name, std::string help,
               std::vector<double> bounds = {});
  std::string text() const;

private:
  std::deque<Family> families_;
};

} // namespace warpwright::runner::metrics
