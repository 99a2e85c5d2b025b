// The measuring loop: buffer sets, pairs in random order, verified samples, the summary.
#include "runner/measure/session.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace warpwright::runner {
namespace {

using model::Direction;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kInputSets = 3;
/// The drawings of all input sets may take this share of the device's memory.
constexpr double kMemoryShare = 0.4;
constexpr int kWarmUps = 3;
/// One pair in this many is verified, at random, and the first pair always.
constexpr std::uint64_t kVerifyOneIn = 12;

/// One drawing of the inputs with both plans ready to run on it.
struct InputSet {
  BufferSet buffers;
  std::unique_ptr<Recording> reference, candidate;
};

/// Temporaries of the two plans under names of their own, so that one buffer set serves both.
model::Plan with_all_temporaries(const model::Plan &reference, const model::Plan &candidate) {
  model::Plan both;
  both.temporaries = candidate.temporaries;
  for (model::Temporary temporary : reference.temporaries) {
    temporary.name = "reference." + temporary.name;
    both.temporaries.push_back(std::move(temporary));
  }
  return both;
}

/// The bindings as the reference's plan names them.
BoundBuffers reference_view(const BoundBuffers &bound) {
  BoundBuffers view = bound;
  for (const auto &[name, buffer] : bound)
    if (name.starts_with("reference."))
      view[name.substr(10)] = buffer;
  return view;
}

class Session {
public:
  Session(Job &job, const MeasureSettings &settings)
      : job_(job), settings_(settings), random_(settings.seed), rule_(settings.limits) {}

  DeviceResult<Measurement> run() {
    job_.enter("measuring", "preparing inputs", Side::Nobody);
    if (auto made = make_sets(); !made)
      return std::unexpected(made.error());
    job_.enter("measuring", "warming up", Side::Candidate);
    for (int i = 0; i < kWarmUps; ++i)
      if (auto pair = measure_pair(false); !pair)
        return std::unexpected(pair.error());
    reference_ns_.clear();
    candidate_ns_.clear();
    result_.discarded_samples = 0;
    job_.enter("measuring", "timing", Side::Candidate);
    const auto start = Clock::now();
    while (!result_.failure && !rule_.enough(reference_ns_, candidate_ns_, Clock::now() - start)) {
      const bool verified = pairs_ == 0 || random_() % kVerifyOneIn == 0;
      if (auto pair = measure_pair(verified); !pair)
        return std::unexpected(pair.error());
      if (reference_ns_.empty() && Clock::now() - start > 2 * settings_.limits.budget)
        return fault(Fault::Kind::Unsupported, "the GPU's clock was held down during every sample; "
                                               "let it cool, or free it of other work");
    }
    if (!result_.failure)
      summarise();
    return result_;
  }

private:
  DeviceResult<void> make_sets() {
    const model::Plan temporaries = with_all_temporaries(job_.task.reference, job_.candidate);
    std::size_t wanted = kInputSets;
    for (std::size_t i = 0; i < wanted; ++i) {
      auto set = BufferSet::make(job_, {job_.task.sizes, random_(), 1, false});
      if (!set)
        return std::unexpected(set.error());
      if (auto made = set->use_temporaries_of(job_, temporaries); !made)
        return made;
      if (auto prepared = set->prepare(job_, kPoisons[0]); !prepared)
        return prepared;
      if (i == 0)
        wanted = affordable_sets(set->bound());
      auto reference = bind_plan(job_.task.reference, job_.plans.reference, job_.task,
                                 job_.task.sizes, reference_view(set->bound()));
      auto candidate =
          bind_plan(job_.candidate, job_.plans.candidate, job_.task, job_.task.sizes, set->bound());
      if (!reference || !candidate)
        return std::unexpected(reference ? candidate.error() : reference.error());
      auto reference_recording = job_.device.record(*reference);
      auto candidate_recording = job_.device.record(*candidate);
      if (!reference_recording || !candidate_recording)
        return std::unexpected(reference_recording ? candidate_recording.error()
                                                   : reference_recording.error());
      sets_.push_back(
          {std::move(*set), std::move(*reference_recording), std::move(*candidate_recording)});
    }
    return {};
  }

  std::size_t affordable_sets(const BoundBuffers &bound) const {
    double bytes = 1;
    for (const auto &[name, buffer] : bound)
      bytes += static_cast<double>(buffer.elements * model::size_bytes(buffer.dtype));
    const double sets = kMemoryShare * static_cast<double>(job_.device.info().memory_bytes) / bytes;
    return std::clamp<std::size_t>(static_cast<std::size_t>(sets), 1, kInputSets);
  }

  DeviceResult<Sample> run_side(InputSet &set, bool candidate) {
    // What the run before left there is gone: a candidate that does nothing leaves nothing right.
    if (auto restored = set.buffers.restore(job_, kPoisons[0]); !restored)
      return std::unexpected(restored.error());
    return job_.device.time(candidate ? *set.candidate : *set.reference);
  }

  DeviceResult<void> measure_pair(bool verified) {
    InputSet &set = sets_[pairs_++ % sets_.size()];
    const bool candidate_first = random_() & 1;
    Sample samples[2]; // reference, candidate
    std::map<std::string, GuardedBuffer> outputs[2];
    for (int turn = 0; turn < 2; ++turn) {
      const bool candidate = (turn == 0) == candidate_first;
      auto sample = run_side(set, candidate);
      if (!sample)
        return std::unexpected(sample.error());
      samples[candidate] = *sample;
      if (verified)
        if (auto saved = save_outputs(set, outputs[candidate]); !saved)
          return saved;
    }
    if (verified)
      if (auto checked = verify_sample(outputs[0], outputs[1]); !checked)
        return checked;
    if (samples[0].throttled || samples[1].throttled) {
      result_.discarded_samples += 2;
      return {};
    }
    reference_ns_.push_back(samples[0].ns);
    candidate_ns_.push_back(samples[1].ns);
    return {};
  }

  DeviceResult<void> save_outputs(const InputSet &set, std::map<std::string, GuardedBuffer> &into) {
    for (const model::Buffer &buffer : job_.task.buffers) {
      const BoundBuffer &bound = set.buffers.bound().at(buffer.name);
      const std::size_t bytes = bound.elements * model::size_bytes(bound.dtype);
      if (buffer.direction == Direction::In || bytes == 0)
        continue;
      auto copy = GuardedBuffer::make(job_.device, bytes, 0);
      if (!copy)
        return std::unexpected(copy.error());
      if (auto copied = job_.device.copy(copy->address(), bound.address, bytes); !copied)
        return copied;
      into.emplace(buffer.name, std::move(*copy));
    }
    return {};
  }

  DeviceResult<void> verify_sample(const std::map<std::string, GuardedBuffer> &reference,
                                   const std::map<std::string, GuardedBuffer> &candidate) {
    ++result_.verified_samples;
    for (const model::Buffer &buffer : job_.task.buffers) {
      const auto expected = reference.find(buffer.name);
      if (expected == reference.end())
        continue;
      const std::uint64_t elements =
          expected->second.size_bytes() / model::size_bytes(buffer.dtype);
      auto survey = job_.checker.survey(buffer.dtype, expected->second.address(), elements);
      if (!survey)
        return std::unexpected(survey.error());
      auto comparison = sample_comparison(buffer, *survey);
      for (int pass = 0; pass < 2; ++pass) {
        comparison.candidate[pass] =
            reinterpret_cast<const void *>(candidate.at(buffer.name).address());
        comparison.reference[pass] = reinterpret_cast<const void *>(expected->second.address());
      }
      auto found = job_.checker.compare(comparison, elements);
      if (!found)
        return std::unexpected(found.error());
      if (found->wrong && !result_.failure)
        result_.failure =
            Failure{model::Outcome::SuspectedCheat, "right while timed",
                    "a timed run of the candidate left " + std::to_string(found->wrong) +
                        " wrong elements in " + buffer.name + ", the first is " + buffer.name +
                        "[" + std::to_string(found->first_wrong) +
                        "], although it was right before: its result depends on earlier runs"};
    }
    return {};
  }

  /// Looser than verification by the reference's own error, which only the fp64 reference could
  /// tell here.
  element::Comparison sample_comparison(const model::Buffer &buffer,
                                        const element::Survey &survey) const {
    constexpr double kSampleTolerance = 1e-2;
    element::Comparison comparison{};
    comparison.type = static_cast<int>(buffer.dtype);
    const double square =
        survey.finite ? survey.sum_of_squares / static_cast<double>(survey.finite) : 0;
    comparison.scale = square > 0 && square - square == 0 ? std::sqrt(square) : 1;
    comparison.absolute = comparison.relative =
        std::max(kSampleTolerance, job_.task.tolerance.relative);
    comparison.allowed = -1;
    // One run stands for both runs, so no element looks like both poisons: one that the candidate
    // alone left unwritten counts as wrong, and one that neither writes as equal.
    comparison.poison[0] = kPoisons[0];
    comparison.poison[1] = kPoisons[1];
    return comparison;
  }

  void summarise() {
    const auto time = [&](const std::vector<double> &samples) {
      const Interval interval = bootstrap_median(samples, settings_.seed);
      return model::Time{interval.median, interval.low, interval.high,
                         static_cast<int>(samples.size())};
    };
    result_.reference_time = time(reference_ns_);
    result_.candidate_time = time(candidate_ns_);
    const Interval ratio =
        bootstrap_median_ratio(reference_ns_, candidate_ns_, settings_.seed, 1000);
    result_.speedup = {ratio.median, ratio.low, ratio.high, static_cast<int>(reference_ns_.size()),
                       job_.device.info().name};
  }

  Job &job_;
  MeasureSettings settings_;
  std::mt19937_64 random_;
  StoppingRule rule_;
  std::vector<InputSet> sets_;
  std::size_t pairs_ = 0;
  std::vector<double> reference_ns_, candidate_ns_;
  Measurement result_;
};

} // namespace

DeviceResult<Measurement> measure(Job &job, const MeasureSettings &settings) {
  return Session(job, settings).run();
}

} // namespace warpwright::runner
