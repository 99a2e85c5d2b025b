#include "runner/verify/rounding_flips.h"

#include "runner/verify/plan_run.h"

#include <algorithm>
#include <cmath>

namespace warpwright::runner {
namespace {

/// Share of the elements that may differ (or one), and how many times as many as in the reference or by one rounding.
constexpr double kMostShare = 0.01, kTimesAsMany = 4;
/// Roundings of the inputs. One turns about a third of the decisions that the reference's own rounding turns.
constexpr std::uint64_t kFlipRoundings = 16;
/// One in so many of the elements that differ in the reference may stay unexplained in the candidate.
constexpr std::uint64_t kUnexplained = 8;
/// Beyond this, the copies for the host would take longer than a search waits.
constexpr std::uint64_t kMostElements = 1 << 24;

/// Host copy of one run's output.
class Values {
public:
  static DeviceResult<Values> of(Job &job, Address address, int type, std::uint64_t count) {
    Values values;
    values.type_ = type;
    const auto bytes = static_cast<std::uint64_t>(element::width(static_cast<element::u64>(type)));
    values.bits_.resize(count * bytes / 8 + 1);
    TRY(job.device.download(values.bits_.data(), address, count * bytes));
    return values;
  }
  std::uint64_t bits(std::uint64_t i) const {
    return element::load_bits(bits_.data(), element::width(static_cast<element::u64>(type_)), i);
  }
  double value(std::uint64_t i) const { return element::to_double(type_, bits(i)); }

private:
  int type_ = 0;
  std::vector<std::uint64_t> bits_;
};

class Explanation {
public:
  Explanation(Job &job, const Drawing &drawing, const model::Buffer &buffer, const OutputRuns &runs,
              double allowed, double scale)
      : job_(job), drawing_(drawing), buffer_(buffer), runs_(runs), allowed_(allowed),
        scale_(scale) {}

  DeviceResult<std::optional<Flips>> run() {
    const std::uint64_t count = runs_.elements;
    const Values exact = TRY(exact_values(*runs_.exact)),
                 reference = TRY(own_values(runs_.reference[0]));
    std::vector<Values> candidate;
    for (const Address address : runs_.candidate)
      candidate.push_back(TRY(own_values(address)));
    std::vector<std::uint64_t> open; // elements of the candidate without explanation
    for (std::uint64_t i = 0; i < count; ++i) {
      flips_.reference += !agree(reference, exact, i);
      const auto is_right = [&](const Values &run) {
        return agree(run, exact, i) || agree(run, reference, i);
      };
      if (!std::ranges::all_of(candidate, is_right))
        open.push_back(i);
    }
    flips_.candidate = open.size();
    if (static_cast<double>(open.size()) > std::max(1.0, kMostShare * static_cast<double>(count)))
      return std::nullopt;
    for (std::uint64_t rounding = 1; rounding <= kFlipRoundings && !is_explained(open);
         ++rounding) {
      auto ran = TRY(run_exact(job_, drawing_, rounding));
      if (!ran.outputs)
        return std::nullopt;
      const Values rounded = TRY(exact_values(ran.outputs->at(buffer_.name)));
      std::uint64_t changed = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        changed += !agree(rounded, exact, i);
      flips_.rounded = std::max(flips_.rounded, changed);
      std::erase_if(open, [&](std::uint64_t i) {
        return std::ranges::all_of(candidate, [&](const Values &run) {
          return agree(run, rounded, i) || agree(run, exact, i);
        });
      });
    }
    flips_.explained = is_explained(open);
    return flips_;
  }

private:
  DeviceResult<Values> own_values(Address address) {
    return Values::of(job_, address, static_cast<int>(buffer_.dtype), runs_.elements);
  }
  DeviceResult<Values> exact_values(Address address) {
    const bool floating = model::is_floating(buffer_.dtype);
    return Values::of(job_, address, floating ? element::Float64 : static_cast<int>(buffer_.dtype),
                      runs_.elements);
  }

  bool agree(const Values &run, const Values &exact, std::uint64_t i) const {
    if (!model::is_floating(buffer_.dtype))
      return run.bits(i) == exact.bits(i);
    const double got = run.value(i), wanted = exact.value(i);
    if (!std::isfinite(wanted) || !std::isfinite(got))
      return got == wanted || (std::isnan(got) && std::isnan(wanted));
    return std::abs(got - wanted) <= allowed_ * std::max(std::abs(wanted), scale_);
  }

  bool is_explained(const std::vector<std::uint64_t> &open) const {
    const auto likely =
        kTimesAsMany * static_cast<double>(std::max(flips_.reference, flips_.rounded));
    return static_cast<double>(flips_.candidate) <= likely &&
           open.size() * kUnexplained <= flips_.reference;
  }

  Job &job_;
  const Drawing &drawing_;
  const model::Buffer &buffer_;
  const OutputRuns &runs_;
  const double allowed_, scale_;
  Flips flips_;
};

} // namespace

DeviceResult<std::optional<Flips>> rounding_flips(Job &job, const Drawing &drawing,
                                                  const model::Buffer &buffer,
                                                  const OutputRuns &runs, std::uint64_t wrong,
                                                  double allowed, double scale) {
  // Integers are wrong where they differ from the reference, so its own differences count too.
  const bool may_be_flips = static_cast<double>(wrong) <=
                            std::max(2.0, 2 * kMostShare * static_cast<double>(runs.elements));
  if (!runs.exact || runs.elements > kMostElements || !buffer.lanes.empty() || !may_be_flips)
    return std::nullopt;
  return Explanation(job, drawing, buffer, runs, allowed, scale).run();
}

} // namespace warpwright::runner
