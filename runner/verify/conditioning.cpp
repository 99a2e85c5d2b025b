#include "runner/verify/conditioning.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

/// Number of random roundings: a single one may by chance leave an element unchanged.
constexpr std::uint64_t kRoundings = 3;

DeviceResult<double> largest_change(Job &job, Address exact, Address rounded,
                                    std::span<const Part> parts) {
  double largest = 0;
  for (const Part &part : parts) {
    const Address offset = part.first * sizeof(double);
    element::Comparison comparison{.type = element::Float64, .poison = {kPoisons[0], kPoisons[1]}};
    for (int pass = 0; pass < 2; ++pass) {
      comparison.candidate[pass] = reinterpret_cast<const void *>(rounded + offset);
      comparison.reference[pass] = reinterpret_cast<const void *>(exact + offset);
    }
    comparison.scale = part.scale;
    comparison.allowed = -1;
    auto found = TRY(job.checker.compare(comparison, part.count));
    largest = std::max(largest, found.max_relative);
  }
  return largest;
}

} // namespace

DeviceResult<std::optional<double>> rounding_spread(Job &job, const Drawing &drawing,
                                                    const model::Buffer &buffer, Address exact,
                                                    std::span<const Part> parts) {
  double spread = 0;
  for (std::uint64_t i = 1; i <= kRoundings; ++i) {
    auto rounded = TRY(run_exact(job, drawing, i));
    if (!rounded.outputs)
      return std::nullopt;
    auto changed = TRY(largest_change(job, exact, rounded.outputs->at(buffer.name), parts));
    spread = std::max(spread, changed);
  }
  return spread;
}

} // namespace warpwright::runner
