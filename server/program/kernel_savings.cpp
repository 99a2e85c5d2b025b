#include "server/program/kernel_savings.h"

#include "runner/capture/files/kernel_names.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace warpwright::program {
RunTimes times_of(const std::vector<capture::ProcessFolder> &processes) {
  RunTimes times;
  std::map<std::string, KernelTime> kernels;
  for (const capture::ProcessFolder &process : processes) {
    for (const auto &[id, launch, runs] : process.launches) {
      KernelTime &kernel = kernels[capture::base_name(launch.kernel)];
      kernel.launches += runs.count + runs.in_graphs;
      kernel.total_ns += runs.total_ns;
      times.kernels_ns += runs.total_ns;
    }
    for (const auto &[id, copy, runs] : process.copies)
      times.copies_ns += runs.total_ns;
  }
  for (auto &[name, kernel] : kernels)
    if (kernel.launches > 0) {
      kernel.name = name;
      times.kernels.push_back(std::move(kernel));
    }
  std::ranges::stable_sort(times.kernels, std::greater(), &KernelTime::total_ns);
  return times;
}

double possible_saving(double mean_ns, std::optional<double> floor_ns) {
  if (mean_ns <= 0 || !floor_ns || *floor_ns <= 0)
    return 1;
  return std::clamp(1 - *floor_ns / mean_ns, 0.0, 1.0);
}

double ceiling(double part) {
  return part >= 1 ? std::numeric_limits<double>::infinity() : 1 / (1 - std::max(part, 0.0));
}

std::vector<std::chrono::milliseconds> split_budget(std::chrono::milliseconds total, std::span<const double> savings,
                                                    std::chrono::milliseconds shortest) {
  std::vector<std::size_t> order(savings.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return savings[i]; });
  std::erase_if(order, [&](std::size_t i) { return savings[i] <= 0; });
  const auto sum = [&] {
    return std::accumulate(order.begin(), order.end(), 0.0,
                           [&](double all, std::size_t i) { return all + savings[i]; });
  };
  const auto part = [&](std::size_t i, double all) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(total.count()) * savings[i] / all));
  };
  while (order.size() > 1 && part(order.back(), sum()) < shortest)
    order.pop_back();
  std::vector<std::chrono::milliseconds> parts(savings.size(), std::chrono::milliseconds(0));
  for (const std::size_t i : order)
    parts[i] = part(i, sum());
  return parts;
}

} // namespace warpwright::program
