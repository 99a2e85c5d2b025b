// Judging of outputs. With an fp64 reference, the first pass finds the reference's own error, which sets the limit. An
// output of few elements says little about that error and may be near 0 by cancellation, so further drawings are made
// before such a candidate is called wrong.
#include "runner/verify/output_judge.h"
#include "runner/verify/conditioning.h"
#include "runner/verify/reference_noise.h"
#include "runner/verify/rounding_flips.h"
#include "runner/verify/wide_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace warpwright::runner {
namespace {

using model::Dtype;
using model::Outcome;

/// Rounding of one operation in the type: no check demands more.
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

/// Error above which the fp64 text computes something else than the reference. A module is its own fp64 text.
constexpr double kUnrelated = 0.1;
/// Multiple of a module's root mean square error that a candidate's may reach, for modules that amplify rounding. This
/// error hardly depends on what is rounded (1.2 was seen for other roundings to TF32 in networks of 50 layers), so more
/// means another computation. Few elements say less.
constexpr double kLikeRounding = 1.5, kLikeRoundingOfFew = 3;
/// Error relative to the output's root mean square, beyond which rounding decides a module's result.
constexpr double kDecided = 0.5;
/// Allowance for a deep network that amplifies rounding, since any implementation does the same.
constexpr double kOtherRounding = 2;
/// Bounds for a module whose result is 0 but for rounding: relative error, magnitude, and the multiple of that error
/// that a candidate may reach, since only noise can be compared.
constexpr double kNoise = 0.5, kNoiseMagnitude = 1e-4, kNoiseFactor = 16;

std::string number(double value) {
  if (std::isnan(value)) // the sign of a NaN means nothing
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

/// Repeated comparison of one output's values, until the limit is known.
class Comparing {
public:
  Comparing(Job &job, const Drawing &drawing, const model::Buffer &buffer, const OutputRuns &runs,
            Judgement &judgement, bool asks_further)
      : job_(job), drawing_(drawing), buffer_(buffer), runs_(runs), elements_(runs.elements),
        judgement_(judgement), asks_further_(asks_further), comparison_(judgement.comparison),
        found_(judgement.findings) {}

  DeviceResult<void> run() {
    TRY(bound_errors());
    return found_.wrong && asks_further_ ? explain_flips() : DeviceResult<void>{};
  }

private:
  DeviceResult<void> bound_errors() {
    if (auto done = compare(); !done || !comparison_.exact)
      return done;
    if (job_.task.module && found_.reference_exact > kNoise &&
        comparison_.scale < kNoiseMagnitude) {
      judgement_.only_noise = true;
      comparison_.allowed = kNoiseFactor * found_.reference_exact;
      return compare();
    }
    reference_error_ = found_.reference_exact;
    if (reference_error_ > kWorstAllowed && asks_further_)
      return judge_with_inexact_reference();
    allow(comparison_, job_.task, reference_error_);
    TRY(compare_and_ask_noise());
    const bool is_capped = job_.task.tolerance.error_factor * reference_error_ > kWorstAllowed;
    return found_.wrong && is_capped && asks_further_ ? judge_with_inexact_reference()
                                                      : DeviceResult<void>{};
  }

  /// Accepts elements that rounding decides; see rounding_flips.h.
  DeviceResult<void> explain_flips() {
    const auto flips =
        TRY(rounding_flips(job_, drawing_, buffer_, runs_, found_.wrong,
                           std::max(comparison_.allowed, comparison_.relative), comparison_.scale));
    if (!flips || !flips->explained)
      return {};
    found_.wrong = 0;
    found_.first_wrong = element::kNone;
    judgement_.fp64_note = "rounding decides elements of " + buffer_.name + ": of " +
                           std::to_string(elements_) + ", the candidate has " +
                           std::to_string(flips->candidate) +
                           " other than float64, the reference " + std::to_string(flips->reference);
    return {};
  }

  DeviceResult<void> compare() {
    found_ = TRY(job_.checker.compare(comparison_, elements_));
    return {};
  }

  DeviceResult<void> compare_and_ask_noise() {
    if (auto done = compare();
        !done || !found_.wrong || elements_ > kFewElements || asked_noise_ || !asks_further_)
      return done;
    TRY(ask_noise());
    allow(comparison_, job_.task, reference_error_);
    return compare();
  }

  /// Gets scale and error from further drawings, for an output of few elements that may be 0 by cancellation.
  DeviceResult<void> ask_noise() {
    auto noise = TRY(reference_noise(job_, drawing_, buffer_, comparison_.scale));
    asked_noise_ = true;
    comparison_.scale = noise.scale;
    reference_error_ = std::max(found_.reference_exact, noise.error);
    return {};
  }

  DeviceResult<void> judge_with_inexact_reference() {
    if (elements_ <= kFewElements && !asked_noise_) {
      TRY(ask_noise());
      TRY(compare());
      reference_error_ = std::max(found_.reference_exact, reference_error_);
    }
    auto spread = TRY(rounding_spread(job_, drawing_, buffer_, address_of(comparison_.exact),
                                      std::array{Part{0, elements_, comparison_.scale}}));
    const bool is_large = spread && *spread > kWorstAllowed / job_.task.tolerance.error_factor;
    const bool explained = is_large && reference_error_ <= kRoundingsOfAPlan * *spread;
    const bool alike = errs_like_the_reference(found_, elements_);
    const bool large = reference_error_ > kUnrelated;
    if (large && !(alike && (explained || job_.task.module))) {
      judgement_.fp64_note = "the fp64 reference differs from the reference by " +
                             number(reference_error_) + " in " + buffer_.name + ": it was not used";
      comparison_.exact = nullptr;
      return compare();
    }
    if (large && job_.task.module)
      judgement_.only_noise = found_.reference_squares > kDecided * kDecided * found_.exact_squares;
    allow(comparison_, job_.task, reference_error_);
    if (explained)
      comparison_.allowed = std::max({comparison_.relative, kWorstAllowed,
                                      std::min(kOtherRounding * std::max(reference_error_, *spread),
                                               kRoundingsOfAPlan * *spread)});
    TRY(explained ? compare() : compare_and_ask_noise());
    if (comparison_.allowed > kWorstAllowed)
      judgement_.conditioning =
          model::Conditioning{buffer_.name, spread.value_or(0), found_.candidate_exact,
                              reference_error_, comparison_.allowed};
    return {};
  }

  static Address address_of(const void *at) { return reinterpret_cast<Address>(at); }

  Job &job_;
  const Drawing &drawing_;
  const model::Buffer &buffer_;
  const OutputRuns &runs_;
  const std::uint64_t elements_;
  Judgement &judgement_;
  const bool asks_further_;
  element::Comparison &comparison_;
  element::Findings &found_;
  double reference_error_ = 0;
  bool asked_noise_ = false;
};

/// Wording of the error in one output buffer.
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
                       "; it uses no atomics, so it has a race or reads uninitialized memory" +
                       at_};
  }

  DeviceResult<std::optional<Failure>> wrong_element() {
    double got = 0, expected = 0;
    for (int pass = 1; pass >= 0; --pass) { // the wrong run; the first if both are wrong
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
    TRY(job_.device.download(&bits, reinterpret_cast<Address>(base) + index * width, width));
    return element::to_double(element::type_at(type_code(buffer_), index), bits);
  }

  Job &job_;
  const model::Buffer &buffer_;
  const element::Comparison &comparison_;
  const element::Findings &found_;
  const std::string at_;
};

} // namespace

double scale_of(const element::Survey &survey) {
  const double square =
      survey.finite ? survey.sum_of_squares / static_cast<double>(survey.finite) : 0;
  return square > 0 && std::isfinite(square) ? std::sqrt(square) : 1;
}

double least_tolerance(const model::Task &task, Dtype dtype) {
  return std::max(task.tolerance.relative, precision_floor(dtype));
}

DeviceResult<Judgement> judge_output(Job &job, const Drawing &drawing, const model::Buffer &buffer,
                                     const OutputRuns &runs, bool compare_runs, bool asks_further) {
  if (drawing.wide_rows_of)
    return judge_wide_rows(job, drawing, buffer, runs, compare_runs);
  Judgement judgement;
  auto survey = TRY(job.checker.survey(type_code(buffer), runs.reference[0], runs.elements));
  judgement.survey = survey;
  element::Comparison &comparison = judgement.comparison;
  comparison = {.type = type_code(buffer),
                .compare_runs = compare_runs,
                .poison = {kPoisons[0], kPoisons[1]}};
  for (int pass = 0; pass < 2; ++pass) {
    comparison.candidate[pass] = pointer(runs.candidate[pass]);
    comparison.reference[pass] = pointer(runs.reference[pass]);
  }
  comparison.scale = scale_of(survey);
  comparison.absolute = job.task.tolerance.absolute;
  comparison.relative = least_tolerance(job.task, buffer.dtype);
  comparison.allowed = -1;
  if (runs.exact && model::is_floating(buffer.dtype))
    comparison.exact = static_cast<const double *>(pointer(*runs.exact));
  TRY(Comparing(job, drawing, buffer, runs, judgement, asks_further).run());
  return judgement;
}

DeviceResult<std::optional<Failure>> failure_of(Job &job, const Drawing &drawing,
                                                const model::Buffer &buffer,
                                                const Judgement &judgement) {
  return Wording(job, drawing, buffer, judgement).word();
}

} // namespace warpwright::runner
