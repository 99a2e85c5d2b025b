#include "runner/verify/wide_rows.h"
#include "runner/verify/reference_noise.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace warpwright::runner {
namespace {

using model::Direction;
using model::Distribution;

/// Exponents of the smallest and the largest scale. A half has a short range: squares of the largest still fit.
constexpr int kLow = 0, kHigh = 30, kLowOfHalf = -8, kHighOfHalf = 4;
constexpr std::size_t kMostInputs = 2;
/// An input below this fraction of the largest one is a bias or a scale, and hides more than it shows.
constexpr std::uint64_t kLargePart = 16;

/// True if an input may be scaled. Torch draws a module's inputs and parameters itself; the inputs come first.
bool is_scalable(const model::Buffer &buffer) {
  using Kind = Distribution::Kind;
  const Kind kind = buffer.distribution.kind;
  const bool drawn = kind == Kind::Normal || kind == Kind::Uniform ||
                     (kind == Kind::Module && buffer.direction == Direction::In);
  return buffer.direction != Direction::Out && model::is_floating(buffer.dtype) && drawn;
}

std::uint64_t elements_of(const model::Buffer &buffer, const symbolic::Sizes &sizes) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(buffer.extent.evaluate(sizes).value_or(0), 0));
}

std::string short_number(double value) {
  std::ostringstream text;
  text.precision(2);
  text << value;
  return text.str();
}

/// Parts of an output that correspond to an input's bands if rows stay rows.
std::vector<Part> parts_of(const element::Bands &bands, std::uint64_t elements) {
  std::vector<Part> parts;
  for (std::uint64_t band = 0; band < element::kBands; ++band) {
    const auto first_of = [&](std::uint64_t which) { // element_math.h: row * kBands / rows
      const std::uint64_t row = (which * bands.rows + element::kBands - 1) / element::kBands;
      return std::min<std::uint64_t>(row * bands.row_size, elements);
    };
    if (const std::uint64_t first = first_of(band), end = first_of(band + 1); end > first)
      parts.push_back({first, end - first, 1});
  }
  return parts;
}

void add_marks(std::uint64_t count, std::uint64_t first, std::uint64_t offset,
               element::u64 &into_count, element::u64 &into_first) {
  if (count > 0)
    into_first = std::min<element::u64>(into_first, first + offset);
  into_count += count;
}

void merge(element::Findings &into, const element::Findings &part, std::uint64_t offset) {
  add_marks(part.unwritten, part.first_unwritten, offset, into.unwritten, into.first_unwritten);
  add_marks(part.stray, part.first_stray, offset, into.stray, into.first_stray);
  add_marks(part.wrong, part.first_wrong, offset, into.wrong, into.first_wrong);
  add_marks(part.unstable, part.first_unstable, offset, into.unstable, into.first_unstable);
  for (auto member : {&element::Findings::max_absolute, &element::Findings::max_relative,
                      &element::Findings::candidate_exact, &element::Findings::reference_exact})
    into.*member = std::max(into.*member, part.*member);
}

class Bands {
public:
  Bands(Job &job, const model::Buffer &buffer, const OutputRuns &runs, Judgement &judgement)
      : job_(job), buffer_(buffer), runs_(runs), judgement_(judgement),
        parts_(parts_of(wide_bands(buffer, runs.elements), runs.elements)) {}

  DeviceResult<void> find_scales() {
    const std::size_t width = model::size_bytes(buffer_.dtype);
    for (Part &part : parts_) {
      auto survey = TRY(
          job_.checker.survey(type_code(buffer_), runs_.reference[0] + part.first * width, part.count));
      part.scale = scale_of(survey);
      judgement_.survey.digest += survey.digest;
      judgement_.survey.nans += survey.nans;
      judgement_.survey.unlike_first += survey.unlike_first;
    }
    return {};
  }

  /// Compares every band by its own scale, with the limits of the judgement's comparison.
  DeviceResult<void> compare() {
    const std::size_t width = model::size_bytes(buffer_.dtype);
    judgement_.findings = element::no_findings();
    for (const Part &part : parts_) {
      element::Comparison comparison = judgement_.comparison;
      for (int pass = 0; pass < 2; ++pass) {
        comparison.candidate[pass] = moved(comparison.candidate[pass], part.first * width);
        comparison.reference[pass] = moved(comparison.reference[pass], part.first * width);
      }
      comparison.exact = static_cast<const double *>(
          moved(judgement_.comparison.exact, part.first * sizeof(double)));
      comparison.scale = part.scale;
      auto found = TRY(job_.checker.compare(comparison, part.count));
      merge(judgement_.findings, found, part.first);
    }
    return {};
  }

  const std::vector<Part> &parts() const { return parts_; }

private:
  static const void *moved(const void *base, std::uint64_t bytes) {
    return static_cast<const unsigned char *>(base) + bytes;
  }

  Job &job_;
  const model::Buffer &buffer_;
  const OutputRuns &runs_;
  Judgement &judgement_;
  std::vector<Part> parts_;
};

/// Drops judgements of values; only the check that elements were written remains.
void leave_values_alone(Judgement &judgement, const std::string &why) {
  judgement.findings.wrong = 0;
  judgement.not_judged = why;
}

} // namespace

element::Bands wide_bands(const model::Buffer &buffer, std::uint64_t elements) {
  const bool is_half = buffer.dtype == model::Dtype::Float16;
  const std::uint64_t row = buffer.shape.size() >= 2 && buffer.shape.back() > 0
                                ? static_cast<std::uint64_t>(buffer.shape.back())
                                : 1;
  return {.rows = std::max<std::uint64_t>(elements / row, 1),
          .row_size = row,
          .low = is_half ? kLowOfHalf : kLow,
          .high = is_half ? kHighOfHalf : kHigh};
}

std::vector<std::size_t> wide_inputs(const model::Task &task, const symbolic::Sizes &sizes) {
  std::vector<std::size_t> found;
  if (!task.module && !task.reference_fp64)
    return found;
  std::uint64_t largest = 0;
  for (const model::Buffer &buffer : task.buffers)
    if (is_scalable(buffer))
      largest = std::max(largest, elements_of(buffer, sizes));
  for (std::size_t index = 0; index < task.buffers.size() && found.size() < kMostInputs; ++index)
    if (const model::Buffer &buffer = task.buffers[index];
        is_scalable(buffer) && elements_of(buffer, sizes) >= kFewElements &&
        elements_of(buffer, sizes) * kLargePart >= largest)
      found.push_back(index);
  return found;
}

DeviceResult<Judgement> judge_wide_rows(Job &job, const Drawing &drawing,
                                        const model::Buffer &buffer, const OutputRuns &runs,
                                        bool compare_runs) {
  Judgement judgement;
  judgement.comparison = {.type = type_code(buffer),
                          .compare_runs = compare_runs,
                          .poison = {kPoisons[0], kPoisons[1]}};
  if (!runs.exact || !model::is_floating(buffer.dtype) || runs.elements <= kFewElements) {
    judgement.not_judged =
        buffer.name + (runs.exact ? " has integers or few elements" : " has no result in float64");
    return judgement;
  }
  element::Comparison &comparison = judgement.comparison;
  for (int pass = 0; pass < 2; ++pass) {
    comparison.candidate[pass] = reinterpret_cast<const void *>(runs.candidate[pass]);
    comparison.reference[pass] = reinterpret_cast<const void *>(runs.reference[pass]);
  }
  comparison.exact = reinterpret_cast<const double *>(*runs.exact);
  comparison.absolute = job.task.tolerance.absolute;
  comparison.relative = least_tolerance(job.task, buffer.dtype);
  comparison.allowed = -1;
  Bands bands(job, buffer, runs, judgement);
  TRY(bands.find_scales());
  TRY(bands.compare());
  if (judgement.survey.nans > 0) {
    leave_values_alone(judgement, "the reference gives NaN in " + buffer.name);
    return judgement;
  }
  const double reference_error = judgement.findings.reference_exact;
  if (reference_error > kWorstAllowed) {
    leave_values_alone(judgement, "the reference itself is off by " +
                                      short_number(reference_error) + " in " + buffer.name);
    return judgement;
  }
  comparison.allowed =
      std::max(comparison.relative,
               std::min(job.task.tolerance.error_factor * reference_error, kWorstAllowed));
  TRY(bands.compare());
  if (!judgement.findings.wrong)
    return judgement;
  auto spread = TRY(rounding_spread(job, drawing, buffer, *runs.exact, bands.parts()));
  if (!spread || kRoundingsOfAPlan * *spread <= comparison.allowed)
    return judgement;
  if (!std::isfinite(*spread)) { // between values that float can hold and those that it cannot
    leave_values_alone(judgement, "rounding of the inputs alone makes " + buffer.name + " infinite");
    return judgement;
  }
  comparison.allowed = kRoundingsOfAPlan * *spread;
  TRY(bands.compare());
  if (!judgement.findings.wrong && comparison.allowed > kWorstAllowed)
    judgement.not_judged = "rounding of the inputs alone moves " + buffer.name + " by " +
                           short_number(*spread) + ": it is ill-conditioned there";
  return judgement;
}

} // namespace warpwright::runner
