#include "generator/elements/table_form.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace warpwright::elements {
namespace {

constexpr std::size_t kMostRuns = 6;
/// Limit of a value and of the intermediate results of a form, which are of type int.
constexpr double kLargest = 1 << 30;

using Values = std::vector<std::int64_t>;

std::optional<Values> integers(const std::vector<double> &table) {
  Values values;
  for (const double number : table) {
    if (number != std::floor(number) || std::fabs(number) >= kLargest)
      return std::nullopt;
    values.push_back(static_cast<std::int64_t>(number));
  }
  return values;
}

/// A run of values: first + slope * (index - begin) up to `end`.
struct Run {
  std::size_t begin = 0, end = 0;
  std::int64_t first = 0, slope = 0;
};

/// Returns runs from the left, each as long as possible; empty where there are too many.
std::vector<Run> runs_of(const Values &values) {
  std::vector<Run> runs;
  for (std::size_t begin = 0; begin < values.size();) {
    Run run{begin, begin + 1, values[begin], 0};
    if (run.end < values.size())
      run.slope = values[run.end] - values[begin];
    while (run.end < values.size() && values[run.end] - values[run.end - 1] == run.slope)
      ++run.end;
    // The second of two values may begin a longer run: 0 0 1 2 3 is a zero and a count.
    if (run.end - run.begin == 2 && run.end + 1 < values.size() &&
        values[run.end + 1] - values[run.end] == values[run.end] - values[run.end - 1])
      run = {begin, begin + 1, values[begin], 0};
    if (run.end - run.begin == 1)
      run.slope = 0;
    begin = run.end;
    runs.push_back(run);
    if (runs.size() > kMostRuns)
      return {};
  }
  return runs;
}

std::string sum(std::int64_t coefficient, const std::string &index, std::int64_t constant) {
  std::string text = coefficient == 0    ? ""
                     : coefficient == 1  ? index
                     : coefficient == -1 ? "-" + index
                                         : std::to_string(coefficient) + " * " + index;
  if (text.empty())
    return std::to_string(constant);
  if (constant != 0)
    text += (constant < 0 ? " - " : " + ") + std::to_string(std::abs(constant));
  return text;
}

/// Returns true where the intermediate results are ints, too.
bool fits(const Run &run) {
  const double reach = std::fabs(static_cast<double>(run.slope)) * static_cast<double>(run.end);
  return reach < kLargest && reach + std::fabs(static_cast<double>(run.first)) < kLargest;
}

/// Returns the form of a table that repeats each value equally often, except at the ends: first + slope * ((index +
/// lead) / times).
std::optional<TableForm> repeated(const Values &values) {
  const auto change = [&](std::size_t from) {
    while (from < values.size() && values[from] == values[from - 1])
      ++from;
    return from;
  };
  const std::size_t head = change(1);
  if (head >= values.size())
    return std::nullopt;
  const std::size_t times = std::max(head, change(head + 1) - head), lead = times - head;
  const std::int64_t slope = values[head] - values[0];
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != values[0] + slope * static_cast<std::int64_t>((i + lead) / times))
      return std::nullopt;
  return [=, first = values[0]](const std::string &index) {
    const std::string quotient = "((" + sum(1, index, static_cast<std::int64_t>(lead)) + ") / " +
                                 std::to_string(times) + ")";
    return "(" + sum(slope, quotient, first) + ")";
  };
}

std::string choice(const std::vector<Run> &runs, const std::string &index) {
  std::string text;
  for (const Run &run : runs) {
    if (&run != &runs.back())
      text += index + " < " + std::to_string(run.end) + " ? ";
    text += sum(run.slope, index, run.first - run.slope * static_cast<std::int64_t>(run.begin));
    if (&run != &runs.back())
      text += " : ";
  }
  return "(" + text + ")";
}

} // namespace

std::optional<TableForm> table_form(const std::vector<double> &table) {
  const auto values = integers(table);
  if (!values || values->empty())
    return std::nullopt;
  const std::vector<Run> runs = runs_of(*values);
  if (runs.size() > 2 || runs.empty())
    if (auto form = repeated(*values))
      return form;
  if (runs.empty() || !std::ranges::all_of(runs, fits))
    return std::nullopt;
  return [runs](const std::string &index) { return choice(runs, index); };
}

} // namespace warpwright::elements
