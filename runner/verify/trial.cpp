// One trial: candidate twice, reference twice, fp64 reference once, then every output compared.
//
// Both runs of a side start from the same inputs on different poisons, so that an element nobody
// wrote, a result that depends on stale memory, and (by thread order on the CPU, by chance on a
// GPU) a race all show.
#include "runner/verify/plan_run.h"
#include "runner/verify/reference_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace warpwright::runner {
namespace {

using model::Direction;
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

/// More than this and the fp64 text does not compute what the reference computes.
constexpr double kUnrelated = 0.1;
/// However bad the reference is, a candidate may not be worse than this.
constexpr double kWorstAllowed = 1e-2;

/// Both runs of one side.
DeviceResult<std::optional<Failure>> run_twice(Job &job, BufferSet &set, const Drawing &drawing,
                                               Side side, SavedOutputs (&saved)[2]) {
  const bool is_candidate = side == Side::Candidate;
  const model::Plan &plan = is_candidate ? job.candidate : job.task.reference;
  const CompiledPlan &compiled = is_candidate ? job.plans.candidate : job.plans.reference;
  const std::string who = is_candidate ? "the candidate" : "the reference";
  job.enter("verifying", "running " + who + " at " + drawing.text(), side);
  if (auto made = set.use_temporaries_of(job, plan); !made)
    return std::unexpected(made.error());
  for (int pass = 0; pass < 2; ++pass) {
    job.device.set_thread_order(pass == 0 ? ThreadOrder::Forward : ThreadOrder::Reverse);
    auto failure = run_once(job, set, plan, compiled, kPoisons[pass]);
    if (!failure)
      return failure;
    if (*failure) {
      (*failure)->message = who + " " + (*failure)->message + " (" + drawing.text() + ")";
      if (!is_candidate) // then the task is wrong, and nothing can be said of the candidate
        (*failure)->outcome = Outcome::Unsupported;
      return failure;
    }
    if (auto kept = saved[pass].save(job, set); !kept)
      return std::unexpected(kept.error());
  }
  job.enter("verifying", "comparing", Side::Nobody);
  return std::nullopt;
}

std::string number(double value) {
  if (std::isnan(value)) // whose sign says nothing
    return "nan";
  std::ostringstream text;
  text.precision(9);
  text << value;
  return text.str();
}

/// Compares one output buffer and words what is wrong with it.
class OutputJudge {
public:
  OutputJudge(Job &job, const Drawing &drawing, const model::Buffer &buffer)
      : job_(job), drawing_(drawing), buffer_(buffer) {}

  DeviceResult<void> judge(SavedOutputs (&candidate)[2], SavedOutputs (&reference)[2],
                           const BufferSet *exact, bool candidate_uses_atomics,
                           TrialResult &result) {
    const auto type = static_cast<int>(buffer_.dtype);
    const GuardedBuffer &expected = reference[0].copies.at(buffer_.name);
    const std::uint64_t elements = expected.size_bytes() / model::size_bytes(buffer_.dtype);
    if (elements == 0)
      return {};
    auto survey = job_.checker.survey(buffer_.dtype, expected.address(), elements);
    if (!survey)
      return std::unexpected(survey.error());
    result.digest = element::mix(result.digest ^ survey->digest);
    result.constant_output = result.constant_output && survey->unlike_first == 0;
    comparison_ = {.type = type,
                   .compare_runs = !candidate_uses_atomics,
                   .poison = {kPoisons[0], kPoisons[1]}};
    for (int pass = 0; pass < 2; ++pass) {
      comparison_.candidate[pass] = pointer(candidate[pass].copies.at(buffer_.name).address());
      comparison_.reference[pass] = pointer(reference[pass].copies.at(buffer_.name).address());
    }
    const double square =
        survey->finite ? survey->sum_of_squares / static_cast<double>(survey->finite) : 0;
    comparison_.scale = square > 0 && std::isfinite(square) ? std::sqrt(square) : 1;
    comparison_.absolute = job_.task.tolerance.absolute;
    comparison_.relative = std::max(job_.task.tolerance.relative, precision_floor(buffer_.dtype));
    comparison_.allowed = -1;
    if (exact && model::is_floating(buffer_.dtype))
      comparison_.exact =
          static_cast<const double *>(pointer(exact->bound().at(buffer_.name).address));
    auto found = compare_all(elements, result);
    if (!found)
      return std::unexpected(found.error());
    note_errors(*found, result.errors);
    if (result.failure)
      return {};
    auto worded = word(*found);
    if (!worded)
      return std::unexpected(worded.error());
    result.failure = *worded;
    return {};
  }

private:
  static const void *pointer(Address address) { return reinterpret_cast<const void *>(address); }

  /// With an fp64 reference the first pass finds the reference's own error, which sets what is
  /// allowed. An output of few elements says little about that error, and may be close to 0 by
  /// cancellation: before such a candidate is called wrong, further drawings are asked.
  DeviceResult<element::Findings> compare_all(std::uint64_t elements, TrialResult &result) {
    auto found = job_.checker.compare(comparison_, elements);
    if (!found || !comparison_.exact)
      return found;
    if (found->reference_exact > kUnrelated) {
      result.fp64_note = "the fp64 reference differs from the reference by " +
                         number(found->reference_exact) + " in " + buffer_.name +
                         ": it was not used";
      comparison_.exact = nullptr;
      return job_.checker.compare(comparison_, elements);
    }
    allow(found->reference_exact);
    found = job_.checker.compare(comparison_, elements);
    if (!found || !found->wrong || elements > kFewElements)
      return found;
    auto noise = reference_noise(job_, drawing_, buffer_, comparison_.scale);
    if (!noise)
      return std::unexpected(noise.error());
    comparison_.scale = noise->scale;
    allow(std::max(found->reference_exact, noise->error));
    return job_.checker.compare(comparison_, elements);
  }

  void allow(double reference_error) {
    comparison_.allowed =
        std::max(comparison_.relative,
                 std::min(job_.task.tolerance.error_factor * reference_error, kWorstAllowed));
  }

  void note_errors(const element::Findings &found, model::Errors &errors) const {
    model::Errors here;
    here.max_absolute = found.max_absolute;
    if (model::is_floating(buffer_.dtype))
      here.max_relative = found.max_relative;
    if (comparison_.exact) {
      here.candidate_fp64 = found.candidate_exact;
      here.reference_fp64 = found.reference_exact;
    }
    keep_larger(errors, here);
  }

  DeviceResult<std::optional<Failure>> word(const element::Findings &found) {
    const std::string at = " (" + drawing_.text() + ")";
    if (found.unwritten)
      return Failure{Outcome::WrongResult, "every output element written",
                     "the candidate leaves " + std::to_string(found.unwritten) + " elements of " +
                         buffer_.name + " unwritten, the first is " +
                         element_name(found.first_unwritten) + at};
    if (found.stray)
      return Failure{Outcome::WrongResult, "nothing else written",
                     "the candidate writes " + std::to_string(found.stray) + " elements of " +
                         buffer_.name + " that the reference leaves alone, the first is " +
                         element_name(found.first_stray) + at};
    if (found.wrong)
      return wrong_element(found, at);
    if (found.unstable) {
      auto first = value_at(comparison_.candidate[0], found.first_unstable);
      auto second = value_at(comparison_.candidate[1], found.first_unstable);
      if (!first || !second)
        return std::unexpected(first ? second.error() : first.error());
      return Failure{Outcome::WrongResult, "same result twice",
                     "two runs of the candidate on the same inputs differ, first in " +
                         element_name(found.first_unstable) + ": " + number(*first) + " and " +
                         number(*second) +
                         "; it uses no atomics, so it has a race or reads uninitialised memory" +
                         at};
    }
    return std::nullopt;
  }

  DeviceResult<std::optional<Failure>> wrong_element(const element::Findings &found,
                                                     const std::string &at) {
    double got = 0, expected = 0;
    for (int pass = 1; pass >= 0; --pass) { // the run that is off; the first one when both are
      auto value = value_at(comparison_.candidate[pass], found.first_wrong);
      auto wanted = value_at(comparison_.reference[pass], found.first_wrong);
      if (!value || !wanted)
        return std::unexpected(value ? wanted.error() : value.error());
      const bool same = *value == *wanted || (std::isnan(*value) && std::isnan(*wanted));
      if (pass == 1 || !same) {
        got = *value;
        expected = *wanted;
      }
    }
    std::string message =
        element_name(found.first_wrong) + " is " + number(got) + ", expected " + number(expected);
    if (comparison_.exact && comparison_.allowed >= 0)
      message += "; error against fp64 " + number(found.candidate_exact) + ", allowed " +
                 number(comparison_.allowed) + " (" + number(job_.task.tolerance.error_factor) +
                 " times the reference's own, or " + number(comparison_.relative) + ")";
    message += "; " + std::to_string(found.wrong) + " elements are wrong" + at;
    const bool by_exact = comparison_.exact && found.max_relative <= comparison_.relative;
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
  const Drawing &drawing_;
  const model::Buffer &buffer_;
  element::Comparison comparison_{};
};

bool uses_atomics(const std::string &source) {
  for (const char *spelling : {"atomic", "red.", "reduce_add", "cuda::"})
    if (source.find(spelling) != std::string::npos)
      return true;
  return false;
}

} // namespace

void keep_larger(model::Errors &into, const model::Errors &other) {
  for (auto member : {&model::Errors::max_absolute, &model::Errors::max_relative,
                      &model::Errors::candidate_fp64, &model::Errors::reference_fp64})
    if (other.*member && (!(into.*member) || !(*(into.*member) >= *(other.*member))))
      into.*member = other.*member;
}

DeviceResult<TrialResult> run_trial(Job &job, const Drawing &drawing) {
  TrialResult result;
  auto set = BufferSet::make(job, drawing);
  if (!set)
    return std::unexpected(set.error());
  SavedOutputs candidate[2], reference[2];
  for (Side side : {Side::Candidate, Side::Reference}) {
    auto failure =
        run_twice(job, *set, drawing, side, side == Side::Candidate ? candidate : reference);
    if (!failure)
      return std::unexpected(failure.error());
    if (*failure) {
      result.failure = std::move(*failure);
      return result;
    }
  }
  auto exact = run_exact(job, drawing);
  if (!exact)
    return std::unexpected(exact.error());
  result.constant_output = true;
  const bool atomics = uses_atomics(job.candidate.source);
  for (const model::Buffer &buffer : job.task.buffers)
    if (buffer.direction != Direction::In)
      if (auto judged =
              OutputJudge(job, drawing, buffer)
                  .judge(candidate, reference, *exact ? &**exact : nullptr, atomics, result);
          !judged)
        return std::unexpected(judged.error());
  return result;
}

} // namespace warpwright::runner
