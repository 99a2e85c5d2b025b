// With an fp64 reference the first pass finds the reference's own error, which sets what is allowed. An
// output of few elements says little about that error, and may be close to 0 by cancellation: before such
// a candidate is called wrong, further drawings are asked.
#include "runner/verify/output_judge.h"
#include "runner/verify/reference_noise.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace warpwright::runner {
namespace {

using model::Dtype;
using model::Outcome;

/// Rounding of one operation in the type: no check asks for more.
double precision_floor(Dtype dtype) {
  switch (dtype) {
  case Dtype::Float16:
    return 9.765625e-4; // 2^-10
  case Dtype::BFloat16:
    return 7.8125e-3; // 2^-7
  case Dtype::Float32:
    return 2.384185791015625e-7; // 2^-22
  default:
    return 8.8817841970012523e-16; // 2^-50
  }
}

/// More than this and the fp64 text does not compute what the reference computes. A module is its own fp64 text.
constexpr double kUnrelated = 0.1;
/// A module whose largest error is more than that magnifies rounding. The root mean square of such errors hardly depends on what rounds:
/// a candidate's is at most this multiple of the module's (1.2 was seen for other roundings to TF32 in networks of 50 layers), or it
/// computes something else. Of few elements it says less.
constexpr double kLikeRounding = 1.5, kLikeRoundingOfFew = 3;
/// Of the output's root mean square. Where a module is further than this from itself in float64, rounding decides its result.
constexpr double kDecided = 0.5;
/// However bad the reference is, a candidate may not be worse than this.
constexpr double kWorstAllowed = 1e-2;
/// But a deep network that magnifies rounding does so for whatever computes it.
constexpr double kOtherRounding = 2;
/// A module whose result is this much error, and this small, computes what is 0 without rounding. A candidate may then be off by
/// a larger multiple of it, since noise is all that there is to compare.
constexpr double kNoise = 0.5, kNoiseMagnitude = 1e-4, kNoiseFactor = 16;

std::string number(double value) {
  if (std::isnan(value)) // whose sign says nothing
    return "nan";
  std::ostringstream text;
  text.precision(9);
  text << value;
  return text.str();
}

const void *pointer(Address address) { return reinterpret_cast<const void *>(address); }

void allow(element::Comparison &comparison, const model::Task &task, double reference_error) {
  comparison.allowed = std::max(
      comparison.relative, std::min(task.tolerance.error_factor * reference_error, kWorstAllowed));
  if (task.module)
    comparison.allowed = std::max(comparison.allowed, kOtherRounding * reference_error);
}

bool errs_like_the_reference(const element::Findings &found, std::uint64_t elements) {
  const double factor = elements > kFewElements ? kLikeRounding : kLikeRoundingOfFew;
  return found.candidate_squares <= factor * factor * found.reference_squares;
}

DeviceResult<void> compare_all(Job &job, const Drawing &drawing, const model::Buffer &buffer,
                               std::uint64_t elements, Judgement &judgement) {
  element::Comparison &comparison = judgement.comparison;
  const auto compare = [&]() -> DeviceResult<void> {
    auto found = job.checker.compare(comparison, elements);
    if (!found)
      return std::unexpected(found.error());
    judgement.findings = *found;
    return {};
  };
  if (auto done = compare(); !done || !comparison.exact)
    return done;
  const double reference_error = judgement.findings.reference_exact;
  if (job.task.module && reference_error > kNoise && comparison.scale < kNoiseMagnitude) {
    judgement.only_noise = true;
    comparison.allowed = kNoiseFactor * reference_error;
    return compare();
  }
  const bool magnifies = job.task.module && reference_error > kUnrelated &&
                         errs_like_the_reference(judgement.findings, elements);
  if (reference_error > kUnrelated && !magnifies) {
    judgement.fp64_note = "the fp64 reference differs from the reference by " +
                          number(reference_error) + " in " + buffer.name + ": it was not used";
    comparison.exact = nullptr;
    return compare();
  }
  if (magnifies)
    judgement.only_noise = judgement.findings.reference_squares >
                           kDecided * kDecided * judgement.findings.exact_squares;
  allow(comparison, job.task, reference_error);
  if (auto done = compare(); !done || !judgement.findings.wrong || elements > kFewElements)
    return done;
  auto noise = reference_noise(job, drawing, buffer, comparison.scale);
  if (!noise)
    return std::unexpected(noise.error());
  comparison.scale = noise->scale;
  allow(comparison, job.task, std::max(judgement.findings.reference_exact, noise->error));
  return compare();
}

/// Words what is wrong with one output buffer.
class Wording {
public:
  Wording(Job &job, const Drawing &drawing, const model::Buffer &buffer, const Judgement &judgement)
      : job_(job), buffer_(buffer), comparison_(judgement.comparison), found_(judgement.findings),
        at_(" (" + drawing.text() + ")") {}

  DeviceResult<std::optional<Failure>> word() {
    if (found_.unwritten)
      return Failure{Outcome::WrongResult, "every output element written",
                     "the candidate leaves " + std::to_string(found_.unwritten) + " elements of " +
                         buffer_.name + " unwritten, the first is " +
                         element_name(found_.first_unwritten) + at_};
    if (found_.stray)
      return Failure{Outcome::WrongResult, "nothing else written",
                     "the candidate writes " + std::to_string(found_.stray) + " elements of " +
                         buffer_.name + " that the reference leaves alone, the first is " +
                         element_name(found_.first_stray) + at_};
    if (found_.wrong)
      return wrong_element();
    if (found_.unstable)
      return unstable_element();
    return std::nullopt;
  }

private:
  DeviceResult<std::optional<Failure>> unstable_element() {
    auto first = value_at(comparison_.candidate[0], found_.first_unstable);
    auto second = value_at(comparison_.candidate[1], found_.first_unstable);
    if (!first || !second)
      return std::unexpected(first ? second.error() : first.error());
    return Failure{Outcome::WrongResult, "same result twice",
                   "two runs of the candidate on the same inputs differ, first in " +
                       element_name(found_.first_unstable) + ": " + number(*first) + " and " +
                       number(*second) +
                       "; it uses no atomics, so it has a race or reads uninitialised memory" +
                       at_};
  }

  DeviceResult<std::optional<Failure>> wrong_element() {
    double got = 0, expected = 0;
    for (int pass = 1; pass >= 0; --pass) { // the run that is off; the first one when both are
      auto value = value_at(comparison_.candidate[pass], found_.first_wrong);
      auto wanted = value_at(comparison_.reference[pass], found_.first_wrong);
      if (!value || !wanted)
        return std::unexpected(value ? wanted.error() : value.error());
      const bool same = *value == *wanted || (std::isnan(*value) && std::isnan(*wanted));
      if (pass == 1 || !same) {
        got = *value;
        expected = *wanted;
      }
    }
    std::string message =
        element_name(found_.first_wrong) + " is " + number(got) + ", expected " + number(expected);
    if (comparison_.exact && comparison_.allowed >= 0)
      message += "; error against fp64 " + number(found_.candidate_exact) + ", allowed " +
                 number(comparison_.allowed) + " (" + number(job_.task.tolerance.error_factor) +
                 " times the reference's own, or " + number(comparison_.relative) + ")";
    message += "; " + std::to_string(found_.wrong) + " elements are wrong" + at_;
    const bool by_exact = comparison_.exact && found_.max_relative <= comparison_.relative;
    return Failure{Outcome::WrongResult,
                   by_exact ? "accuracy against fp64" : "matches the reference", message};
  }

  std::string element_name(std::uint64_t index) const {
    return buffer_.name + "[" + std::to_string(index) + "]";
  }

  DeviceResult<double> value_at(const void *base, std::uint64_t index) {
    const std::size_t width = model::size_bytes(buffer_.dtype);
    std::uint64_t bits = 0;
    if (auto read =
            job_.device.download(&bits, reinterpret_cast<Address>(base) + index * width, width);
        !read)
      return std::unexpected(read.error());
    return element::to_double(static_cast<int>(buffer_.dtype), bits);
  }

  Job &job_;
  const model::Buffer &buffer_;
  const element::Comparison &comparison_;
  const element::Findings &found_;
  const std::string at_;
};

} // namespace

DeviceResult<Judgement> judge_output(Job &job, const Drawing &drawing, const model::Buffer &buffer,
                                     const OutputRuns &runs, bool compare_runs) {
  Judgement judgement;
  auto survey = job.checker.survey(buffer.dtype, runs.reference[0], runs.elements);
  if (!survey)
    return std::unexpected(survey.error());
  judgement.survey = *survey;
  element::Comparison &comparison = judgement.comparison;
  comparison = {.type = static_cast<int>(buffer.dtype),
                .compare_runs = compare_runs,
                .poison = {kPoisons[0], kPoisons[1]}};
  for (int pass = 0; pass < 2; ++pass) {
    comparison.candidate[pass] = pointer(runs.candidate[pass]);
    comparison.reference[pass] = pointer(runs.reference[pass]);
  }
  const double square =
      survey->finite ? survey->sum_of_squares / static_cast<double>(survey->finite) : 0;
  comparison.scale = square > 0 && std::isfinite(square) ? std::sqrt(square) : 1;
  comparison.absolute = job.task.tolerance.absolute;
  comparison.relative = std::max(job.task.tolerance.relative, precision_floor(buffer.dtype));
  comparison.allowed = -1;
  if (runs.exact && model::is_floating(buffer.dtype))
    comparison.exact = static_cast<const double *>(pointer(*runs.exact));
  if (auto compared = compare_all(job, drawing, buffer, runs.elements, judgement); !compared)
    return std::unexpected(compared.error());
  return judgement;
}

DeviceResult<std::optional<Failure>> failure_of(Job &job, const Drawing &drawing,
                                                const model::Buffer &buffer,
                                                const Judgement &judgement) {
  return Wording(job, drawing, buffer, judgement).word();
}

} // namespace warpwright::runner
