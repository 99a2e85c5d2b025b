// The pure parts of measuring: medians, intervals and their honesty, the stopping rule, pairs, the roofline,
// evidence.
#include "runner/measure/evidence.h"
#include "runner/measure/host_clock.h"
#include "runner/measure/paired_samples.h"
#include "runner/measure/reference_alone.h"
#include "runner/measure/roofline.h"
#include "runner/measure/stopping_rule.h"
#include "tests/runner/tasks.h"

#include <cmath>
#include <functional>
#include <map>
#include <random>

namespace warpwright::runner {
namespace {

using namespace testing;

/// Samples about a time, at an SM clock where one is given.
std::vector<Sample> samples_about(double ns, std::optional<double> sm_mhz) {
  std::vector<Sample> samples;
  for (int i = 0; i < 21; ++i)
    samples.push_back({.ns = ns * (1 + 0.001 * (i % 5)), .clocks = {.sm_mhz = sm_mhz}});
  return samples;
}

TEST_CASE("a reference that is slower beside a candidate than alone was held up, unless its clock explains it") {
  const auto none = std::nullopt;
  CHECK(!compare_with_alone(samples_about(1e5, none), samples_about(1e5, none)).slowed);
  CHECK(!compare_with_alone(samples_about(1.04e5, none), samples_about(1e5, none)).slowed);
  CHECK(!compare_with_alone(samples_about(0.5e5, none), samples_about(1e5, none)).slowed);
  const ReferenceAlone held_up = compare_with_alone(samples_about(1.2e5, none), samples_about(1e5, none));
  CHECK(held_up.slowed);
  CHECK(held_up.text.find("120 us next to the candidate's process, 100 us without it") !=
        std::string::npos);
  CHECK(compare_with_alone(samples_about(1.2e5, 1900), samples_about(1e5, 1900)).slowed);
  CHECK(!compare_with_alone(samples_about(1.2e5, 1500), samples_about(1e5, 1800)).slowed); // as many cycles
  CHECK(!compare_with_alone(samples_about(1.2e5, none), samples_about(1e5, none), samples_about(1.18e5, none)).slowed);
  CHECK(compare_with_alone(samples_about(1.4e5, none), samples_about(1e5, none), samples_about(1.18e5, none)).slowed);
}

TEST_CASE("the median of an even count is the mean of the two in the middle") {
  std::vector<double> odd = {5, 1, 3}, even = {4, 1, 3, 2}, one = {7};
  CHECK(median_of(odd) == 3);
  CHECK(median_of(even) == 2.5);
  CHECK(median_of(one) == 7);
}

/// Noise of one sample, and whether samples remember the one before.
struct Noise {
  std::string name;
  std::function<double(std::mt19937_64 &, int index, double &state)> sample; ///< about 1
  double placement = 0; ///< by this much one side is slower, at random for each load of the modules
};
constexpr int kPairsALoad = 2;

PairedSamples pairs_of(std::span<const double> reference, std::span<const double> candidate) {
  PairedSamples samples;
  for (std::size_t i = 0; i < reference.size(); ++i)
    samples.add({.ns = reference[i]}, {.ns = candidate[i]}, static_cast<int>(i) / kPairsALoad);
  return samples;
}

/// Share of A/A sessions, stopped as real ones are, whose interval holds 1.
double coverage(const Noise &noise, int sessions, double &mean_pairs) {
  int covered = 0;
  std::size_t pairs = 0;
  for (int session = 0; session < sessions; ++session) {
    std::mt19937_64 random(static_cast<std::uint64_t>(session) * 7919 + 1);
    StoppingRule rule({.max_pairs = 400});
    PairedSamples samples;
    double states[2] = {}, slower = 0;
    while (!rule.enough(samples, std::chrono::nanoseconds(0))) {
      const int index = static_cast<int>(samples.size());
      if (index % kPairsALoad == 0)
        slower = random() % 2 ? noise.placement : -noise.placement;
      const double reference = noise.sample(random, index, states[0]) * (1 + slower),
                   candidate = noise.sample(random, index, states[1]);
      samples.add({.ns = reference}, {.ns = candidate}, index / kPairsALoad);
    }
    const Interval interval = samples.ratio();
    covered += interval.low <= 1 && 1 <= interval.high;
    pairs += samples.size();
  }
  mean_pairs = static_cast<double>(pairs) / sessions;
  return static_cast<double>(covered) / sessions;
}

TEST_CASE(
    "a kernel against itself is found different in under 5% of sessions, whatever the noise") {
  std::normal_distribution<double> normal;
  std::student_t_distribution<double> heavy(2);
  const Noise noises[] = {
      {"normal, 1%", [&](auto &random, int, double &) { return std::exp(0.01 * normal(random)); }},
      {"normal, 0.3%",
       [&](auto &random, int, double &) { return std::exp(0.003 * normal(random)); }},
      {"heavy tails (Student's t, 2 degrees), 1%",
       [&](auto &random, int, double &) { return std::exp(0.01 * heavy(random)); }},
      {"1 in 20 is half as slow again",
       [&](auto &random, int, double &) {
         return 1 + 0.004 * std::abs(normal(random)) + (random() % 20 == 0 ? 0.5 : 0);
       }},
      {"two modes, 3% apart",
       [&](auto &random, int, double &) {
         return (random() % 2 ? 1.0 : 1.03) * (1 + 0.002 * normal(random));
       }},
      {"drift of 10% over 200 pairs, normal, 1%",
       [&](auto &random, int index, double &) {
         return (1 + 0.1 * index / 200) * std::exp(0.01 * normal(random));
       }},
      {"where modules lie is worth 1% to one side, normal, 0.5%",
       [&](auto &random, int, double &) { return std::exp(0.005 * normal(random)); }, 0.01},
      {"where modules lie is worth 1% to one side, normal, 0.05%",
       [&](auto &random, int, double &) { return std::exp(0.0005 * normal(random)); }, 0.01},
      {"ticks of 32 ns in 3 us",
       [&](auto &random, int, double &) {
         return std::round(3000 * (1 + 0.01 * normal(random)) / 32) * 32;
       }},
  };
  for (const Noise &noise : noises) {
    double pairs = 0;
    const double covered = coverage(noise, 1000, pairs);
    MESSAGE(noise.name << ": covered in " << covered * 100 << "% of 1000 sessions, " << pairs
                       << " pairs each");
    CHECK(covered >= 0.95);
  }
  // Not promised, since samples then depend on each other; kept close to it all the same.
  double pairs = 0;
  const Noise follows{"each sample half follows the one before",
                      [&](auto &random, int, double &state) {
                        state = 0.5 * state + normal(random);
                        return std::exp(0.01 * state);
                      }};
  const double covered = coverage(follows, 1000, pairs);
  MESSAGE(follows.name << ": covered in " << covered * 100 << "% of 1000 sessions, " << pairs
                       << " pairs each");
  CHECK(covered >= 0.93);
}

TEST_CASE("the interval lies between order statistics, and is all there is when samples are few") {
  std::vector<double> samples;
  for (int i = 1; i <= 21; ++i)
    samples.push_back((i * 8) % 21 + 1); // 1..21 in an order without trend
  const Interval interval = median_interval(samples);
  CHECK(interval.median == 11);
  CHECK(interval.low == 5); // P(Binomial(21, 1/2) < 5) = 0.36%, < 6: 1.3%
  CHECK(interval.high == 17);
  const std::vector<double> few = {3, 1, 2, 5, 4, 6};
  CHECK(median_interval(few).low == 1);
  CHECK(median_interval(few).high == 6);
}

TEST_CASE("samples that follow each other widen the interval") {
  std::vector<double> mixed, sorted;
  for (int i = 0; i < 100; ++i) {
    sorted.push_back(1000 + i);
    mixed.push_back(1000 + (i * 37) % 100);
  }
  CHECK(median_interval(sorted).high - median_interval(sorted).low >
        2 * (median_interval(mixed).high - median_interval(mixed).low));
}

TEST_CASE("the timer's tick is seen where samples repeat, and widens the speedup") {
  const std::vector<double> ticks = {3200, 3232, 3232, 3200, 3264, 3232, 3200, 3232},
                            smooth = {3201.5, 3233, 3190, 3215.25};
  CHECK(half_tick(ticks) == 16);
  CHECK(half_tick(smooth) == 0);
  CHECK(half_tick(std::vector<double>(10, 3200.0)) == 0);
  PairedSamples samples;
  for (double ns : ticks)
    samples.add({.ns = ns}, {.ns = ns}, 1);
  const model::Speedup speedup = samples.speedup("GPU");
  CHECK(speedup.ratio == 1);
  CHECK(speedup.low == doctest::Approx(1 - 2 * 16.0 / 3232));
  CHECK(speedup.high == doctest::Approx(1 + 2 * 16.0 / 3232));
}

TEST_CASE("pairs whose clocks differ are dropped, unless that is the rule") {
  const auto at = [](double ns, std::optional<double> mhz) {
    return Sample{.ns = ns, .clocks = {.sm_mhz = mhz}};
  };
  PairedSamples samples;
  for (int i = 0; i < 9; ++i)
    samples.add(at(200, 1980), at(100, 1965), 1);
  samples.add(at(200, 1980), at(130, 1500), 1);
  samples.add(at(200, std::nullopt), at(100, 1500), 1);
  CHECK(samples.drop_unequal_clocks() == 1);
  CHECK(samples.size() == 10);
  CHECK(samples.candidate_time(30).high_ns == 100);
  CHECK(samples.candidate_time(30).kernel_ns == 70);
  CHECK(!samples.candidate_time(std::nullopt).kernel_ns);
  CHECK(!samples.candidate_time(200).kernel_ns);
  PairedSamples unequal;
  for (int i = 0; i < 10; ++i)
    unequal.add(at(200, 1980), at(100, i < 4 ? 1980 : 1500), 1);
  CHECK(unequal.drop_unequal_clocks() == 0);
  CHECK(unequal.size() == 10);

  model::ClockRecord record;
  add_reading(record, {.sm_mhz = 1700, .power_capped = true});
  add_reading(record, {.sm_mhz = 1980, .temperature_c = 50, .power_capped = false});
  CHECK(record.sm_mhz == model::Range{1700, 1980});
  CHECK(record.temperature_c == model::Range{50, 50});
  CHECK(!record.memory_mhz);
  CHECK(record.power_capped == true);
}

TEST_CASE(
    "measuring stops when the interval is narrow, at the most pairs, or when the budget is spent") {
  using std::chrono::milliseconds;
  const std::vector<double> steady(30, 100.0);
  std::vector<double> wild;
  for (int i = 0; i < 3000; ++i)
    wild.push_back(i % 2 ? 100 : 200);
  const std::vector<double> steady_long(3000, 100.0);
  const auto enough = [](std::span<const double> a, std::span<const double> b,
                         milliseconds elapsed) {
    return StoppingRule(StoppingLimits{}).enough(pairs_of(a, b), elapsed);
  };
  CHECK(enough(steady, steady, milliseconds(1)));
  CHECK(!enough(std::span(steady).first(20), std::span(steady).first(20), milliseconds(1)));
  CHECK(!enough(std::span(wild).first(30), steady, milliseconds(1)));
  CHECK(enough(std::span(wild).first(30), steady, milliseconds(2000)));
  CHECK(!enough(std::span(wild).first(5), std::span(steady).first(5), milliseconds(2000)));
  CHECK(enough(std::span(wild).first(2000), std::span(steady_long).first(2000), milliseconds(1)));
}

model::DeviceInfo hopper() {
  model::DeviceInfo device;
  device.copy_bytes_per_s = 4e12;
  device.l2_bytes = 60 << 20;
  device.fp32_flops_per_s = 60e12;
  device.tf32_flops_per_s = 400e12;
  device.bf16_flops_per_s = 800e12;
  return device;
}

TEST_CASE("the roofline accuses what moves bytes faster than the memory, and nothing else") {
  Task task = square_task(1 << 26); // 512 MiB to move
  const model::DeviceInfo device = hopper();
  const double outputs = 256.0 * 1024 * 1024;
  CHECK(!check_roofline(task, device, 140e3, 130e3, outputs).impossible);
  CHECK(!check_roofline(task, device, 140e3, 104e3, outputs).impossible); // 60 MiB may be in the L2
  CHECK(check_roofline(task, device, 140e3, 100e3, outputs).impossible);
  CHECK(
      check_roofline(task, device, 140e3, 20e3, outputs).detail.find("the candidate took 20 us") !=
      std::string::npos);
  model::DeviceInfo disturbed =
      device; // while it was measured: what only reads comes near to the memory's own rate
  disturbed.copy_bytes_per_s = 3.6e12;
  CHECK(check_roofline(task, disturbed, 200e3, 108e3, outputs).impossible);
  disturbed.peak_bytes_per_s = 4.9e12;
  CHECK(!check_roofline(task, disturbed, 200e3, 108e3, outputs).impossible);
  CHECK(check_roofline(task, disturbed, 200e3, 92e3, outputs).impossible);
  // Then the task's work is wrong:
  CHECK(!check_roofline(task, device, 20e3, 20e3, outputs).impossible);
  task.work.bytes.reset();
  CHECK(!check_roofline(task, device, 140e3, 1, outputs).impossible);
}

TEST_CASE("the roofline accuses what computes faster than the tensor cores, and nothing else") {
  Task task = square_task(1 << 20);
  task.work.bytes.reset();
  task.work.flops =
      expression("n * 100000"); // 105 GFLOP: 1.75 ms in FP32, 114 us in BF16 with margin
  model::DeviceInfo device = hopper();
  CHECK(
      !check_roofline(task, device, 2e6, 300e3, 0).impossible); // three TF32 products would do that
  CHECK(!check_roofline(task, device, 2e6, 120e3, 0).impossible);
  CHECK(check_roofline(task, device, 2e6, 110e3, 0).impossible);
  task.buffers[0].dtype = Dtype::Int8; // whose tensor cores are faster
  CHECK(!check_roofline(task, device, 2e6, 110e3, 0).impossible);
  CHECK(check_roofline(task, device, 2e6, 55e3, 0).impossible);
  task.buffers[0].dtype = Dtype::Float32;
  device.bf16_flops_per_s.reset(); // not measured: lenient
  CHECK(!check_roofline(task, device, 2e6, 110e3, 0).impossible);
  CHECK(check_roofline(task, device, 2e6, 50e3, 0).impossible);
  device.fp32_flops_per_s.reset();
  CHECK(!check_roofline(task, device, 2e6, 1, 0).impossible);
}

TEST_CASE("without measured rates the driver's clocks and widths bound a time, and that is said") {
  Task task = square_task(1 << 26); // 512 MiB to move
  task.work.flops = expression("n * 1000000");
  model::DeviceInfo device;
  const auto nominal = [&](double candidate_ns) {
    return check_roofline(task, device, 1e9, candidate_ns, 0);
  };
  CHECK(!nominal(1).impossible); // nothing is known
  CHECK(nominal(1).detail.find("does not tell") != std::string::npos);
  device.peak_bytes_per_s = 4.9e12; // 110 us
  CHECK(nominal(100e3).impossible);
  CHECK(nominal(120e3).detail.find("by the driver's clocks and widths alone") != std::string::npos);
  CHECK(!nominal(120e3).impossible);
  device.peak_fp32_flops_per_s = 66e12; // tensor cores: 32 ms
  task.work.bytes.reset();
  CHECK(nominal(30e6).impossible);
  CHECK(!nominal(33e6).impossible);
  task.work = {};
  CHECK(nominal(0).impossible);
  CHECK(nominal(std::nan("")).impossible);
}

TEST_CASE("the host's clock bounds what a batch of runs takes") {
  // Launch-bound, both: 2 us by the device, 5 by the host.
  CHECK(host_clock_bound(2e3, 2e3, 5e3, 5e3).holds);
  // More nodes to start, and a lower clock under load.
  CHECK(host_clock_bound(100e3, 50e3, 100e3, 70e3).holds);
  CHECK(!host_clock_bound(100e3, 50e3, 100e3, 150e3).holds);
  // A slow host starts both late.
  CHECK(host_clock_bound(10e3, 10e3, 200e3, 210e3).holds);
  CHECK(runs_of_a_batch(10e6) >= 2);
  CHECK(runs_of_a_batch(1) <= 200);
}

/// @param small of inputs of a small magnitude
PairedSamples conditioned(double usual, double flushed, double large, double small, double noise,
                          int pairs = 40) {
  constexpr auto kUsual = Condition::Usual, kFlushed = Condition::ThoroughFlush;
  constexpr Condition kOrder[] = {kUsual, kUsual, kFlushed, Condition::LargeValues,
                                  kUsual, kUsual, kFlushed, Condition::SmallValues};
  const std::map<Condition, double> ratios{{kUsual, usual},
                                           {kFlushed, flushed},
                                           {Condition::LargeValues, large},
                                           {Condition::SmallValues, small}};
  PairedSamples samples;
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal;
  for (int pair = 0; pair < pairs; ++pair) {
    const Condition condition = kOrder[pair % 8];
    samples.add({.ns = 1000 * ratios.at(condition) * std::exp(noise * normal(random))},
                {.ns = 1000}, pair / 2, condition);
  }
  return samples;
}

TEST_CASE("a speedup counts as far as every condition shows it") {
  const auto ratio = [](const PairedSamples &samples) {
    return credit(samples).samples.ratio().median;
  };
  CHECK(ratio(conditioned(1.3, 1.0, 1.3, 1.3, 0.003)) == doctest::Approx(1).epsilon(0.01));
  CHECK(ratio(conditioned(1.3, 1.3, 1.1, 1.1, 0.003)) == doctest::Approx(1.1).epsilon(0.01));
  CHECK(ratio(conditioned(1.3, 1.3, 1.1, 1.3, 0.003)) == doctest::Approx(1.1).epsilon(0.01));
  CHECK(ratio(conditioned(1.3, 1.3, 1.3, 1.1, 0.003)) == doctest::Approx(1.1).epsilon(0.01));
  CHECK(ratio(conditioned(1.3, 1.2, 1.1, 1.0, 0.003)) == doctest::Approx(1).epsilon(0.01));
  // Two of each magnitude are few, four are not.
  CHECK(ratio(conditioned(1.3, 1.3, 1.1, 1.1, 0.003, 16)) == doctest::Approx(1.1).epsilon(0.01));
  // More under a condition is no gain, and noise is no loss.
  CHECK(credit(conditioned(1.3, 1.3, 1.5, 1.5, 0.003)).why_less.empty());
  CHECK(credit(conditioned(1.3, 1.3, 1.3, 1.3, 0.03)).why_less.empty());
  CHECK(credit(conditioned(1.0, 1.0, 1.0, 1.0, 0.01)).samples.size() == 40);
  PairedSamples few;
  for (int pair = 0; pair < 8; ++pair)
    few.add({.ns = 1000}, {.ns = 900}, 0, pair ? Condition::Usual : Condition::ThoroughFlush);
  CHECK(credit(few).why_less.empty());
}

TEST_CASE("a condition of another ratio costs no more pairs than it takes itself") {
  const auto enough = [](double flushed, double large, double small) {
    return StoppingRule({}).enough(conditioned(1.3, flushed, large, small, 0.01, 480), {});
  };
  CHECK(enough(1.3, 1.3, 1.3));
  CHECK(enough(1.3, 1.6, 1.3));
  CHECK(enough(1.3, 1.3, 1.1));
  CHECK(enough(1.5, 1.6, 1.7));
  CHECK(credit(conditioned(1.3, 1.3, 1.6, 1.3, 0.01, 480)).samples.size() == 420);
}

TEST_CASE("evidence names memory, compute or latency by the share of what the device reaches") {
  Task task = square_task(1 << 26);
  task.work.flops = expression("n * 256"); // 17 GFLOP
  const model::DeviceInfo device = hopper();
  const auto memory = evidence_of(task, device, {150e3, 149e3, 151e3, 30});
  REQUIRE(memory);
  CHECK(*memory->bytes_per_s == doctest::Approx(8.0 * (1 << 26) / 150e-6));
  CHECK(*memory->memory_share == doctest::Approx(0.895).epsilon(0.01));
  CHECK(*memory->compute_share == doctest::Approx(0.286).epsilon(0.01)); // of TF32: over FP32's 60
  CHECK(memory->bound == model::Bound::Memory);
  task.work.flops = expression("n * 1024");
  const auto compute = evidence_of(task, device, {1.3e6, 1.3e6, 1.3e6, 30});
  CHECK(*compute->compute_share == doctest::Approx(0.881).epsilon(0.01));
  CHECK(compute->bound == model::Bound::Compute);
  CHECK(evidence_of(task, device, {9e6, 9e6, 9e6, 30})->bound == model::Bound::Latency);
  // The bracket is not the kernel's time.
  CHECK(*evidence_of(task, device, {200e3, 2e5, 2e5, 30, 150e3})->bytes_per_s ==
        doctest::Approx(*memory->bytes_per_s));
  task.work = {};
  CHECK(!evidence_of(task, device, {150e3, 149e3, 151e3, 30}));
}

} // namespace
} // namespace warpwright::runner
