// The pure parts of measuring: medians, intervals, the stopping rule, the roofline.
#include "runner/measure/bootstrap.h"
#include "runner/measure/roofline.h"
#include "runner/measure/stopping_rule.h"
#include "tests/runner/tasks.h"

#include <random>

namespace warpwright::runner {
namespace {

using namespace testing;

TEST_CASE("the median of an even count is the mean of the two in the middle") {
  std::vector<double> odd = {5, 1, 3}, even = {4, 1, 3, 2}, one = {7};
  CHECK(median_of(odd) == 3);
  CHECK(median_of(even) == 2.5);
  CHECK(median_of(one) == 7);
}

TEST_CASE("the ratio's interval covers the truth about as often as it says") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 0.02);
  int covered = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> reference, candidate;
    for (int i = 0; i < 60; ++i) {
      const double drift = 1 + 0.3 * i / 60.0; // hits both sides of a pair alike
      reference.push_back(2000 * drift * (1 + noise(random)));
      candidate.push_back(1000 * drift * (1 + noise(random)));
    }
    const Interval interval =
        bootstrap_median_ratio(reference, candidate, static_cast<std::uint64_t>(trial));
    covered += interval.low <= 2 && 2 <= interval.high;
    CHECK(interval.relative_half_width() < 0.03);
  }
  CHECK(covered > kTrials * 0.88);
  CHECK(covered < kTrials);
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
    return StoppingRule(StoppingLimits{}).enough(a, b, elapsed);
  };
  CHECK(enough(steady, steady, milliseconds(1)));
  CHECK(!enough(std::span(steady).first(20), std::span(steady).first(20), milliseconds(1)));
  CHECK(!enough(std::span(wild).first(30), steady, milliseconds(1)));
  CHECK(enough(std::span(wild).first(30), steady, milliseconds(2000)));
  CHECK(!enough(std::span(wild).first(2), std::span(steady).first(2), milliseconds(2000)));
  CHECK(enough(std::span(wild).first(2000), std::span(steady_long).first(2000), milliseconds(1)));
}

TEST_CASE("the roofline accuses only what cannot be") {
  Task task = square_task(1 << 26); // 512 MiB to move
  model::DeviceInfo device;
  device.copy_bytes_per_s = 4e12;
  device.l2_bytes = 60 << 20;
  device.fp32_flops_per_s = 60e12;
  const double outputs = 256.0 * 1024 * 1024;
  CHECK(!check_roofline(task, device, 140e3, 130e3, outputs).impossible);
  CHECK(check_roofline(task, device, 140e3, 20e3, outputs).impossible);
  CHECK(
      check_roofline(task, device, 140e3, 20e3, outputs).detail.find("the candidate took 20 us") !=
      std::string::npos);
  CHECK(!check_roofline(task, device, 20e3, 20e3, outputs)
             .impossible); // then the task's work is wrong
  task.work.bytes.reset();
  CHECK(!check_roofline(task, device, 140e3, 1, outputs).impossible);
  task.work.flops = expression("n * 1000000");
  CHECK(check_roofline(task, device, 1e9, 1e3, outputs).impossible);
}

} // namespace
} // namespace warpwright::runner
