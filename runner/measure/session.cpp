// Measuring loop: chooses the next pair and decides when to stop.
#include "runner/measure/session.h"
#include "runner/measure/host_clock.h"
#include "runner/measure/step_times.h"
#include "runner/measure/paired_samples.h"
#include "runner/measure/roofline.h"
#include "runner/measure/timed_run_check.h"
#include "runner/device/torch_host.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace warpwright::runner {
namespace {

using Clock = std::chrono::steady_clock;
using model::Outcome;

constexpr int kWarmUps = 3;
/// One pair in so many is verified, and one has inputs redrawn only in part (more often when verified).
constexpr std::uint64_t kVerifyOneIn = 12, kPartOneIn = 4, kPartVerifiedOneIn = 2;
/// Limits of as-called pairs: more are not worth their time, because the host's noise decides their interval.
constexpr std::size_t kMostAsCalled = 51, kEnoughAsCalled = 21;
/// Budgets that slow calls may spend to reach the fewest useful pairs.
constexpr int kBudgetsForFewest = 10;

/// Duration above which calls do not depend on how warm the host's code is.
constexpr double kWarmBelowNs = 1e6;

/// Device pairs between reloads, so that the placement of code does not decide the result; the distance grows after
/// about kManyLoads loads.
constexpr std::uint64_t kPairsALoad = 2, kManyLoads = 12;
constexpr std::uint64_t kLastStretch = 24;

/// The stamps' overhead is sampled beside the pairs, since it drifts with the placement of graphs; with fewer samples,
/// the device's own figure is better.
constexpr std::uint64_t kBracketOneIn = 4;
constexpr std::size_t kFewestBrackets = 16;

/// Attempts at a batch: others may use the GPU during one, so the host's clock is believed only if it repeats.
constexpr int kHostAttempts = 3;

/// Samples of the reference alone; the fewest apply when samples are slow.
constexpr std::size_t kAlone = 31, kFewestAlone = 7;

enum class Kind { Device, AsCalled };
enum class Redraw { Whole, Part };

class Session {
public:
  Session(Job &job, const MeasureSettings &settings, std::size_t most_sets = InputSets::kMostSets)
      : job_(job), settings_(settings), most_sets_(most_sets), random_(settings.seed),
        rule_(settings.limits) {}

  DeviceResult<Measurement> run() {
    job_.enter("measuring", "preparing inputs", Side::Nobody);
    inputs_ = TRY(InputSets::make(job_, random_, most_sets_));
    result_.loads = 1;
    for (const auto &recording : inputs_.sets().front().recordings)
      if (result_.why_no_device_time.empty())
        result_.why_no_device_time = recording->why_no_device_time();
    if (!result_.why_no_device_time.empty())
      deciding_ = Kind::AsCalled;
    TRY(warm_up());
    TRY(take_samples());
    TRY(check_once_more());
    if (!result_.failure)
      TRY(check_by_host_clock());
    if (!result_.failure)
      summarise();
    TRY(take_step_times());
    result_.candidate = inputs_.take_candidate();
    return std::move(result_);
  }

  DeviceResult<std::vector<Sample>> run_reference_alone(Kind kind) {
    job_.enter("measuring", "timing the reference alone", Side::Reference);
    inputs_ = TRY(InputSets::make(job_, random_, most_sets_, true));
    job_.device.set_thorough_flush(false);
    std::vector<Sample> samples;
    const auto start = Clock::now();
    for (std::size_t run = 0; run < kWarmUps + kAlone; ++run) {
      if (samples.size() >= kFewestAlone && Clock::now() - start > settings_.limits.budget)
        break;
      InputSet &set = inputs_.sets()[run % inputs_.sets().size()];
      TRY(redraw(set, Redraw::Whole, Condition::Usual));
      auto sample = TRY(run_side(set, kReferenceSide, kind));
      if (run >= kWarmUps && !sample.throttled)
        samples.push_back(sample);
    }
    return samples;
  }

private:
  /// Runs a module a few times without counting; the very first run is verified while the module's variables are as
  /// loaded.
  DeviceResult<void> warm_up() {
    job_.enter("measuring", "warming up", Side::Candidate);
    const auto start = Clock::now();
    for (int i = 0; i < kWarmUps && !result_.failure; ++i) {
      if (i > 0 && Clock::now() - start > settings_.limits.budget / 4)
        return {};
      const Kind kind = i == 1 ? Kind::AsCalled : deciding_;
      TRY(measure_pair(kind, i == 0, Redraw::Whole, false));
    }
    return {};
  }

  /// Verifies once more after the last counted pair, on everything earlier runs left, with partly changed inputs.
  DeviceResult<void> check_once_more() {
    if (result_.failure)
      return {};
    return measure_pair(deciding_, true, Redraw::Part, false);
  }

  DeviceResult<void> take_samples() {
    choose_moments();
    job_.enter("measuring", "timing", Side::Candidate);
    checking_ = Clock::duration::zero();
    const auto start = Clock::now();
    bool enough = false;
    while (!result_.failure) {
      const auto elapsed = Clock::now() - start - checking_;
      // The decision is kept: a second look would be one more chance to stop by luck.
      enough = enough || rule_.enough(samples_of(deciding_), elapsed);
      const bool spent = elapsed >= settings_.limits.budget;
      const bool called_few =
          called_.size() < kFewestPairs && elapsed < kBudgetsForFewest * settings_.limits.budget;
      if (enough && ((spent && !called_few) ||
                     (called_.size() >= kEnoughAsCalled && is_long_enough_after_load())))
        return {};
      if (samples_of(deciding_).size() == 0 && elapsed > 2 * settings_.limits.budget)
        return fault(Fault::Kind::Unsupported, "the GPU's clock was held down during every sample; "
                                               "let it cool, or free it of other work");
      const bool call = enough || (called_.size() < kMostAsCalled && random_() % 2 == 0);
      TRY(call ? next_pair(Kind::AsCalled) : next_device_pair());
    }
    return {};
  }

  /// Chooses the unpredictable moments of the checks that every session must have.
  void choose_moments() {
    whole_at_ = random_() % kFewestPairs;
    part_at_ = random_() % kFewestPairs;
    reload_at_ = 1 + random_() % (kFewestPairs - 1);
  }

  Redraw choose_redraw(std::uint64_t part_one_in) {
    return random_() % part_one_in == 0 ? Redraw::Part : Redraw::Whole;
  }

  DeviceResult<void> next_device_pair() {
    const std::uint64_t pair = device_pairs_++;
    if (pair == reload_at_ || pair >= next_load_) {
      if (auto loaded = load_anew(pair == reload_at_); !loaded || result_.failure)
        return loaded;
      next_load_ = pair + std::max(kPairsALoad, pair / kManyLoads);
    }
    if (pair == whole_at_ || pair == part_at_)
      return measure_pair(deciding_, true, pair == part_at_ ? Redraw::Part : Redraw::Whole, true);
    return next_pair(deciding_);
  }

  /// True if enough pairs followed the last load: a plan that uses kept data only after many launches of one load must
  /// show it before the last check, so a session's end is as long as any load before, and not short.
  bool is_long_enough_after_load() const {
    return pairs_ - loaded_at_ >= std::max(kLastStretch, longest_load_);
  }

  /// @param verified the new modules' first run is verified; else one pair only warms them up
  DeviceResult<void> load_anew(bool verified) {
    if (job_.host_code()) // its code is not ours to load; each job has a new process
      return {};
    job_.enter("measuring", "loading the modules again", Side::Candidate);
    TRY(inputs_.load_anew(job_, random_));
    ++result_.loads;
    longest_load_ = std::max(longest_load_, pairs_ - loaded_at_);
    loaded_at_ = pairs_;
    auto warm = verified ? warm_up() : measure_pair(deciding_, false, Redraw::Whole, false);
    job_.enter("measuring", "timing", Side::Candidate);
    return warm;
  }

  DeviceResult<void> next_pair(Kind kind) {
    // Checking may take as long as sampling, not counting the checks of choose_moments().
    const bool verified = random_() % kVerifyOneIn == 0 && checking_ < settings_.limits.budget;
    return measure_pair(kind, verified, choose_redraw(verified ? kPartVerifiedOneIn : kPartOneIn),
                        true);
  }

  DeviceResult<void> redraw(InputSet &set, Redraw redraw, Condition condition) {
    const bool large = condition == Condition::LargeValues;
    const bool other = large || condition == Condition::SmallValues;
    const bool whole =
        redraw == Redraw::Whole || other || (!job_.task.module && set.buffers.drawing().scale != 1);
    result_.partly_redrawn += !whole;
    const float scale = !other ? 1 : large ? kLargeScale : kSmallScale;
    return set.buffers.redraw(job_, whole ? random_() >> 24 : set.buffers.drawing().seed,
                              whole ? 0 : random_() | 1, scale);
  }

  /// The condition of the next pair: of eight, two have the thorough flush, one large and one small values, in random
  /// order. A torch task's inputs keep the magnitudes that its module draws.
  Condition next_condition() {
    if (conditions_.empty()) {
      conditions_.assign(4, Condition::Usual);
      conditions_.insert(conditions_.end(), 2, Condition::ThoroughFlush);
      for (const Condition condition : {Condition::LargeValues, Condition::SmallValues})
        conditions_.push_back(job_.task.module ? Condition::Usual : condition);
      std::ranges::shuffle(conditions_, random_);
    }
    const Condition next = conditions_.back();
    conditions_.pop_back();
    return next;
  }

  DeviceResult<Sample> run_side(InputSet &set, std::size_t side, Kind kind) {
    // Earlier results are removed, so that a candidate that does nothing leaves nothing right.
    TRY(set.buffers.restore(job_, kPoisons[0]));
    TRY(refresh(set.operations[side]));
    if (kind == Kind::Device)
      return job_.device.time(*set.recordings[side]);
    if (!job_.task.module)
      return job_.device.time_as_called(set.operations[side]);
    TRY(warm_host(set, side));
    auto sample = job_.device.time_call(*set.recordings[side]);
    if (sample)
      last_called_ns_[side] = sample->ns;
    return sample;
  }

  /// Warms the host on another set's buffers, which are restored before use, so that remembered results are useless.
  DeviceResult<void> warm_host(const InputSet &set, std::size_t side) {
    if (last_called_ns_[side] > kWarmBelowNs)
      return {};
    for (InputSet &other : inputs_.sets())
      if (&other != &set)
        return job_.device.warm_call(*other.recordings[side]);
    return {};
  }

  /// Refreshes the module calls, so that a module sees the newly drawn inputs.
  DeviceResult<void> refresh(const std::vector<Operation> &operations) {
    for (const Operation &operation : operations)
      if (const auto *torch = std::get_if<TorchOperation>(&operation); torch && torch->is_module)
        TRY(job_.device.torch()->refresh(*torch->call));
    return {};
  }

  /// @param keep true: the times count
  DeviceResult<void> measure_pair(Kind kind, bool verified, Redraw change, bool keep) {
    InputSet &set = inputs_.sets()[pairs_++ % inputs_.sets().size()];
    const Condition condition = keep && kind == deciding_ ? next_condition() : Condition::Usual;
    TRY(redraw(set, change, condition));
    job_.device.set_thorough_flush(condition == Condition::ThoroughFlush);
    TimedRunCheck check(job_, set, timed_outputs_);
    if (verified)
      TRY(check.prepare());
    const std::size_t first = random_() % 2;
    Sample samples[2];
    for (const std::size_t side : {first, 1 - first}) {
      auto sample = TRY(run_side(set, side, kind));
      samples[side] = sample;
      if (verified)
        TRY(after_run(check, side));
    }
    if (keep)
      take(kind, samples[kReferenceSide], samples[kCandidateSide], condition);
    if (keep && kind == Kind::Device && random_() % kBracketOneIn == 0)
      TRY(sample_bracket());
    return verified && !result_.failure ? judge(check) : DeviceResult<void>{};
  }

  DeviceResult<void> sample_bracket() {
    auto bracket = TRY(job_.device.time_bracket());
    if (bracket)
      brackets_.push_back(*bracket);
    return {};
  }

  DeviceResult<void> after_run(TimedRunCheck &check, std::size_t side) {
    const auto start = Clock::now();
    auto checked = check.after_run(side);
    checking_ += Clock::now() - start;
    return checked;
  }

  DeviceResult<void> judge(TimedRunCheck &check) {
    const auto start = Clock::now();
    auto failure = check.judge();
    checking_ += Clock::now() - start;
    if (!failure)
      return std::unexpected(failure.error());
    ++result_.verified_samples;
    if (*failure)
      result_.failure = std::move(*failure);
    job_.enter("measuring", "timing", Side::Candidate);
    return {};
  }

  void take(Kind kind, const Sample &reference, const Sample &candidate, Condition condition) {
    if (!(reference.ns > 0 && candidate.ns > 0)) { // a mean cannot include them
      const bool is_candidate = reference.ns > 0;
      result_.failure =
          Failure{is_candidate ? Outcome::SuspectedCheat : Outcome::Unsupported, kImpossibleCheck,
                  std::string(is_candidate ? "a timed run of the candidate"
                                           : "the task's reference: a timed run") +
                      " took no time"};
      return;
    }
    for (const Sample *sample : {&reference, &candidate})
      add_reading(clocks_, sample->clocks);
    if (reference.throttled || candidate.throttled)
      result_.discarded_samples += 2;
    else
      samples_of(kind).add(reference, candidate, result_.loads, condition);
    if (job_.host_code() && kind == deciding_ && condition == Condition::Usual && !reference.throttled)
      result_.reference_samples.push_back(reference);
  }

  PairedSamples &samples_of(Kind kind) { return kind == Kind::Device ? device_ : called_; }

  std::optional<double> bracket_ns() {
    return brackets_.size() < kFewestBrackets ? job_.device.info().bracket_ns
                                              : mean_of_middle_half(brackets_);
  }

  DeviceResult<void> take_step_times() {
    if (result_.failure || !job_.task.module || job_.host_code() || deciding_ != Kind::Device)
      return {};
    job_.enter("measuring", "timing the steps", Side::Candidate);
    StepTimes times =
        TRY(measure_step_times(job_, inputs_.sets().front(), random_, bracket_ns().value_or(0)));
    result_.step_ns = std::move(times.ns);
    result_.library_share = times.library_part;
    return {};
  }

  /// Checks device times by the host's clock: many consecutive runs take at most the sum of their times and their
  /// starting costs.
  DeviceResult<void> check_by_host_clock() {
    InputSet &set = inputs_.sets().front();
    const bool restores = std::ranges::any_of(job_.task.buffers, [](const model::Buffer &buffer) {
      return buffer.direction == model::Direction::InOut;
    });
    if (restores || deciding_ != Kind::Device || job_.host_code() || device_.size() == 0)
      return {};
    job_.enter("measuring", "timing by the host's clock", Side::Candidate);
    HostClockBound bound;
    for (int attempt = 0; attempt < kHostAttempts; ++attempt) {
      double host_ns[2] = {};
      for (const std::size_t side : {kReferenceSide, kCandidateSide}) {
        const int runs = runs_of_a_batch(median_ns(side));
        auto batch = TRY(job_.device.time_batch(*set.recordings[side], runs));
        if (!batch)
          return {};
        host_ns[side] = *batch / runs;
      }
      bound = host_clock_bound(median_ns(kReferenceSide), median_ns(kCandidateSide),
                               host_ns[kReferenceSide], host_ns[kCandidateSide]);
      if (bound.holds)
        break;
    }
    result_.host_check = bound.text;
    if (!bound.holds)
      result_.failure =
          Failure{Outcome::SuspectedCheat, kHostClockCheck, "the candidate's " + bound.text};
    return {};
  }

  double median_ns(std::size_t side) const {
    std::vector<double> samples =
        side == kReferenceSide ? device_.reference_ns() : device_.candidate_ns();
    return median_of(samples);
  }

  void summarise() {
    clocks_.discarded_pairs = device_.drop_unequal_clocks();
    const model::DeviceInfo &info = job_.device.info();
    Credit credited = credit(std::move(samples_of(deciding_)));
    samples_of(deciding_) = std::move(credited.samples);
    result_.why_less = std::move(credited.why_less);
    if (deciding_ == Kind::Device) {
      const std::optional<double> bracket_ns = this->bracket_ns();
      result_.reference_time = device_.reference_time(bracket_ns);
      result_.candidate_time = device_.candidate_time(bracket_ns);
      result_.speedup = device_.speedup(info.name);
    }
    if (called_.size() >= kFewestPairs)
      result_.as_called =
          model::AsCalled{called_.reference_time(std::nullopt),
                          called_.candidate_time(std::nullopt), called_.speedup(info.name)};
    if (clocks_.sm_mhz || clocks_.memory_mhz || clocks_.temperature_c || clocks_.power_capped)
      result_.clocks = clocks_;
  }

  Job &job_;
  MeasureSettings settings_;
  std::size_t most_sets_;
  std::mt19937_64 random_;
  StoppingRule rule_;
  InputSets inputs_;
  TimedOutputs timed_outputs_;
  Kind deciding_ = Kind::Device; ///< the kind whose interval decides
  std::uint64_t pairs_ = 0, device_pairs_ = 0;
  std::uint64_t loaded_at_ = 0, longest_load_ = 0; ///< in pairs, warm-ups included
  std::uint64_t whole_at_ = 0, part_at_ = 0, reload_at_ = 0, next_load_ = kPairsALoad;
  Clock::duration checking_{0};       ///< spent on verifying timed runs; not part of the budget
  std::vector<Condition> conditions_; ///< of the following pairs
  PairedSamples device_, called_;
  double last_called_ns_[2] = {std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::infinity()};
  std::vector<double> brackets_; ///< ns
  model::ClockRecord clocks_;
  Measurement result_;
};

} // namespace

DeviceResult<Measurement> measure(Job &job, const MeasureSettings &settings) {
  auto measured = Session(job, settings).run();
  const bool short_of_memory = !measured && !measured.error().device_lost &&
                               measured.error().kind == Fault::Kind::OutOfMemory;
  if (!short_of_memory)
    return measured;
  // The memory that calls need beside the sets is not known in advance.
  return Session(job, settings, 1).run();
}

DeviceResult<std::vector<Sample>> time_reference_alone(Job &job, const MeasureSettings &settings,
                                                       bool as_called) {
  return Session(job, settings).run_reference_alone(as_called ? Kind::AsCalled : Kind::Device);
}

} // namespace warpwright::runner
