// The verifier against a fake device whose kernels misbehave in one way each.
#include "runner/measure/session.h"
#include "runner/judge/verifier.h"
#include "tests/runner/fake_device.h"
#include "tests/runner/tasks.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

model::Verdict run(const Task &task, const Plan &plan, bool can_measure = false) {
  FakeDevice device(can_measure);
  VerifySettings settings;
  settings.measure_budget = std::chrono::milliseconds(200);
  settings.seed = 11;
  const VerifyResult result = verify(device, task, plan, settings, [](const auto &...) {});
  CHECK(device.live_allocations == 0);
  CHECK(!result.device_lost);
  auto decoded = model::verdict_from_json(model::to_json(result.verdict));
  REQUIRE_MESSAGE(decoded.has_value(), (decoded ? "" : decoded.error().message));
  CHECK(*decoded == result.verdict);
  return result.verdict;
}

void check(const std::string &candidate, Outcome outcome, const std::string &failed_check,
           const std::string &part, const std::string &reference = "square") {
  const model::Verdict verdict = run(fake_task(reference), fake_plan(candidate));
  INFO(candidate << ": " << verdict.message);
  CHECK(verdict.outcome == outcome);
  CHECK(verdict.message.find(part) != std::string::npos);
  REQUIRE(!verdict.checks.empty());
  if (outcome != Outcome::Verified) {
    CHECK(verdict.checks.back().name == failed_check);
    CHECK(!verdict.checks.back().passed);
  }
}

TEST_CASE("a right candidate is verified, by every check") {
  const model::Verdict verdict = run(fake_task(), fake_plan("square"));
  CHECK(verdict.outcome == Outcome::Verified);
  for (const model::Check &check : verdict.checks)
    CHECK_MESSAGE(check.passed, check.name);
  CHECK(verdict.checks.size() >= 8);
  CHECK(!verdict.speedup);
  CHECK(verdict.errors.max_absolute == 0.0);
  CHECK(!verdict.errors.candidate_fp64);
}

TEST_CASE("each way of being wrong has its outcome, its check and its sentence") {
  check("overrun", Outcome::SuspectedCheat, "guard regions untouched",
        "wrote outside y, 0 bytes past its end");
  check("underrun", Outcome::SuspectedCheat, "guard regions untouched",
        "wrote outside y, 5 bytes before its start");
  check("mutate", Outcome::SuspectedCheat, "inputs unchanged",
        "changed 1 elements of the input x, the first is x[3] (n=7");
  check("skip_last", Outcome::WrongResult, "every output element written",
        "1 elements of y unwritten, the first is y[6]");
  check("skip_all", Outcome::WrongResult, "every output element written",
        "7 elements of y unwritten, the first is y[0]");
  check("nan", Outcome::WrongResult, "matches the reference", "y[0] is nan, expected ");
  check("inexact", Outcome::WrongResult, "matches the reference", "elements are wrong (n=7, seed ");
  check("wrong_tail", Outcome::WrongResult, "matches the reference", "y[6] is ");
  check("race", Outcome::WrongResult, "same result twice",
        "two runs of the candidate on the same inputs differ, first in y[2]");
  check("no_such_kernel", Outcome::CompileFailed, "compiles", "no kernel no_such_kernel");
}

TEST_CASE("an element that the reference leaves alone must be left alone") {
  check("even_only", Outcome::Verified, "", "correct", "even_only");
  check("square", Outcome::WrongResult, "nothing else written", "the first is y[1]", "even_only");
}

TEST_CASE("NaN is right where the reference has it, and a number there is not") {
  check("root", Outcome::Verified, "", "correct", "root");
  check("root_of_positive", Outcome::WrongResult, "matches the reference", "expected nan", "root");
  check("root_of_positive", Outcome::Verified, "", "correct", "root_of_positive");
}

TEST_CASE(
    "another order of summation is right for every seed, and lost precision wrong for every one") {
  Task task = fake_task("sum");
  task.buffers[1].extent = 1;
  task.reference_fp64 = fake_plan("sum_exactly");
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    FakeDevice device;
    VerifySettings settings{.measure = false};
    settings.seed = seed;
    const auto verify_sum = [&](const std::string &kernel) {
      return verify(device, task, fake_plan(kernel), settings, [](const auto &...) {}).verdict;
    };
    const model::Verdict right = verify_sum("sum_in_parts"), wrong = verify_sum("sum_of_halves");
    CHECK_MESSAGE(right.outcome == Outcome::Verified, right.message);
    CHECK_MESSAGE(wrong.outcome == Outcome::WrongResult, wrong.message);
    CHECK(device.live_allocations == 0);
  }
}

TEST_CASE("what is wrong with the task is not the candidate's fault") {
  check("square", Outcome::Unsupported, "guard regions untouched", "the reference wrote outside y",
        "overrun");
  check("square", Outcome::Unsupported, "inputs unchanged", "the reference changed", "mutate");
  check("square", Outcome::Unsupported, "compiles", "the task's reference: no kernel gone", "gone");
}

TEST_CASE("degenerate tasks are named and get no speedup") {
  for (const char *kernel : {"constant", "index"}) {
    const model::Verdict verdict = run(fake_task(kernel), fake_plan(kernel), true);
    INFO(verdict.message);
    CHECK(verdict.outcome == Outcome::Verified);
    CHECK(verdict.message.find("degenerate") != std::string::npos);
    CHECK(!verdict.speedup);
  }
}

TEST_CASE(
    "the fp64 reference lets a candidate differ from a bad reference, and forbids lost precision") {
  struct Case {
    double reference_error, candidate_error;
    bool right;
  };
  // The judgement itself, over one element whose exact value is 1.
  for (const Case &c : {Case{1e-3, 0, true}, Case{1e-3, 3e-3, true}, Case{1e-3, 5e-3, false},
                        Case{0, 5e-6, true}, Case{0, 3e-4, false}}) {
    const float candidate = static_cast<float>(1 + c.candidate_error),
                reference = static_cast<float>(1 + c.reference_error);
    const double exact = 1;
    element::Comparison comparison{.type = element::Float32, .poison = {0xFF, 0x7B}};
    comparison.candidate[0] = comparison.candidate[1] = &candidate;
    comparison.reference[0] = comparison.reference[1] = &reference;
    comparison.exact = &exact;
    comparison.relative = comparison.absolute = 1e-5;
    comparison.scale = 1;
    comparison.allowed = std::max(1e-5, 4 * c.reference_error);
    element::Findings found = element::no_findings();
    element::compare(found, comparison, 0);
    CAPTURE(c.candidate_error);
    CHECK((found.wrong == 0) == c.right);
  }
}

TEST_CASE("buffers are drawn as a recorded run had them: quantiles, order, permutations") {
  FakeDevice device;
  auto checker = make_host_checker(device);
  constexpr std::uint64_t kCount = 10'007;
  const auto drawn = [&](const model::Buffer &buffer, std::int64_t lower, std::int64_t upper, std::uint64_t seed) {
    std::vector<std::uint64_t> bytes(kCount);
    REQUIRE(checker->generate(make_draw(buffer, lower, upper, kCount, seed),
                              reinterpret_cast<Address>(bytes.data()), kCount));
    std::vector<double> values;
    const int type = static_cast<int>(buffer.dtype);
    for (std::size_t i = 0; i < kCount; ++i)
      values.push_back(element::to_double(type, element::load_bits(bytes.data(), element::width(type), i)));
    return values;
  };
  model::Buffer buffer{.name = "x", .dtype = Dtype::Int32};
  using Kind = model::Distribution::Kind;
  auto &distribution = buffer.distribution;
  for (std::size_t i = 0; i < model::Distribution::kQuantiles; ++i) // half of the values in the lowest quarter
    distribution.quantiles.push_back(i <= 16 ? i / 64.0 : 0.25 + (i - 16) * 0.75 / 16);

  distribution.kind = Kind::Sorted;
  const auto offsets = drawn(buffer, 0, 1'000'001, 3);
  CHECK(std::ranges::is_sorted(offsets));
  CHECK(offsets.front() == 0);
  CHECK(offsets.back() == 1'000'000);
  CHECK(offsets[kCount / 2] == doctest::Approx(250'000).epsilon(0.01));
  CHECK(offsets != drawn(buffer, 0, 1'000'001, 4));

  distribution.kind = Kind::Quantiles;
  const auto values = drawn(buffer, 100, 1'100, 3);
  CHECK(std::ranges::min(values) >= 100);
  CHECK(std::ranges::max(values) < 1'100);
  CHECK(std::ranges::count_if(values, [](double value) { return value < 350; }) ==
        doctest::Approx(kCount / 2.0).epsilon(0.05));
  CHECK_FALSE(std::ranges::is_sorted(values));

  distribution.kind = Kind::Permutation;
  auto places = drawn(buffer, 5, 0, 3);
  CHECK(places != drawn(buffer, 5, 0, 4));
  CHECK_FALSE(std::ranges::is_sorted(places));
  std::ranges::sort(places);
  for (std::size_t i = 0; i < kCount; ++i)
    REQUIRE(places[i] == static_cast<double>(i + 5));

  buffer.dtype = Dtype::Float32;
  distribution.kind = Kind::Quantiles;
  for (double &value : distribution.quantiles)
    value = value * 8 - 4;
  const auto numbers = drawn(buffer, 0, 0, 3);
  CHECK(std::ranges::min(numbers) >= -4);
  CHECK(std::ranges::max(numbers) <= 4);
  CHECK(std::ranges::count_if(numbers, [](double value) { return value < -2; }) ==
        doctest::Approx(kCount / 2.0).epsilon(0.05));
}

TEST_CASE("drawings are spread as their kind says") {
  FakeDevice device;
  auto checker = make_host_checker(device);
  const auto draw_values = [&](model::Distribution::Kind kind, Dtype dtype, std::int64_t lower,
                               std::int64_t upper, float scale) {
    constexpr std::size_t kCount = 40'000;
    std::vector<std::uint64_t> bytes(kCount);
    REQUIRE(checker
                ->generate(make_draw(dtype, kind, lower, upper, 5, scale),
                           reinterpret_cast<Address>(bytes.data()), kCount)
                .has_value());
    std::vector<double> values;
    for (std::size_t i = 0; i < kCount; ++i)
      values.push_back(element::to_double(
          static_cast<int>(dtype),
          element::load_bits(bytes.data(), element::width(static_cast<int>(dtype)), i)));
    return values;
  };
  const auto moments = [](const std::vector<double> &values) {
    double sum = 0, squares = 0;
    for (double value : values) {
      sum += value;
      squares += value * value;
    }
    const double mean = sum / static_cast<double>(values.size());
    return std::pair{mean, std::sqrt(squares / static_cast<double>(values.size()) - mean * mean)};
  };
  using Kind = model::Distribution::Kind;
  for (Dtype dtype : {Dtype::Float32, Dtype::Float16, Dtype::BFloat16, Dtype::Float64}) {
    const auto [mean, deviation] = moments(draw_values(Kind::Normal, dtype, 0, 1, 64));
    CHECK(std::abs(mean) < 1.5);
    CHECK(deviation == doctest::Approx(64).epsilon(0.03));
  }
  CHECK(moments(draw_values(Kind::Uniform, Dtype::Float32, 0, 1, 1)).first ==
        doctest::Approx(0.5).epsilon(0.03));
  const auto positive = draw_values(Kind::Positive, Dtype::Float16, 0, 1, 64);
  CHECK(*std::min_element(positive.begin(), positive.end()) >= 0.5);
  CHECK(*std::max_element(positive.begin(), positive.end()) <= 1.5);
  const auto integers = draw_values(Kind::Integers, Dtype::Int64, -3, 9, 1);
  CHECK(*std::min_element(integers.begin(), integers.end()) == -3);
  CHECK(*std::max_element(integers.begin(), integers.end()) == 8);
}

TEST_CASE("half conversion rounds to nearest even at every edge") {
  const std::pair<float, std::uint32_t> cases[] = {
      {1.0F, 0x3c00},           {-2.0F, 0xc000},         {65504.0F, 0x7bff},
      {65519.9F, 0x7bff},       {65520.0F, 0x7c00},      {6.1035156e-5F, 0x0400},
      {5.9604645e-8F, 0x0001},  {2.9802322e-8F, 0x0000}, {2.9802326e-8F, 0x0001},
      {1.00048828125F, 0x3c00}, {1.0014648F, 0x3c02},    {0.0F, 0},
      {-0.0F, 0x8000}};
  for (const auto &[value, half] : cases) {
    CAPTURE(value);
    CHECK(element::half_from_float(value) == half);
  }
  for (std::uint32_t half = 0; half < 0x7c00; ++half)
    REQUIRE(element::half_from_float(element::float_from_half(half)) == half);
}

TEST_CASE("a faster candidate gets a speedup with an interval, and a cached result is caught while "
          "timed") {
  const model::Verdict fast = run(fake_task(), fake_plan("fast_square"), true);
  INFO(fast.message);
  REQUIRE(fast.speedup);
  CHECK(fast.speedup->ratio == doctest::Approx(10).epsilon(0.01));
  CHECK(fast.speedup->low <= fast.speedup->ratio);
  CHECK(fast.speedup->high >= fast.speedup->ratio);
  CHECK(fast.candidate_time->median_ns == doctest::Approx(100).epsilon(0.01));
  CHECK(fast.measured_sizes == "n=4096");
  REQUIRE(fast.as_called);
  CHECK(fast.as_called->speedup.ratio == doctest::Approx(6000.0 / 5100).epsilon(0.01));
  CHECK(fast.as_called->candidate_time.median_ns == doctest::Approx(5100).epsilon(0.01));
  CHECK(!fast.clocks); // the device tells nothing of them

  const model::Verdict cached = run(fake_task(), fake_plan("cached"), true);
  INFO(cached.message);
  CHECK(cached.outcome == Outcome::SuspectedCheat);
  CHECK(cached.message.find("depends on earlier runs") != std::string::npos);
  CHECK(!cached.speedup);
}

TEST_CASE("a gain that is gone behind a thorough flush, or on inputs of another magnitude, is not "
          "credited") {
  for (const char *kernel : {"fast_while_cached", "fast_at_scale_one"}) {
    const model::Verdict verdict = run(fake_task(), fake_plan(kernel), true);
    CAPTURE(kernel);
    INFO(verdict.message);
    CHECK(verdict.outcome == Outcome::Verified);
    REQUIRE(verdict.speedup);
    CHECK(verdict.speedup->ratio == doctest::Approx(1).epsilon(0.01));
    CHECK(verdict.candidate_time->median_ns == doctest::Approx(1000).epsilon(0.01));
    const auto check = std::ranges::find(verdict.checks, "the same speedup under other conditions",
                                         &model::Check::name);
    REQUIRE(check != verdict.checks.end());
    CHECK(check->detail.find("which is what counts") != std::string::npos);
  }
}

TEST_CASE("work outside of the time stamps shows by the host's clock") {
  const model::Verdict verdict = run(fake_task(), fake_plan("fast_and_hides"), true);
  INFO(verdict.message);
  CHECK(verdict.outcome == Outcome::SuspectedCheat);
  CHECK(verdict.checks.back().name == "device time agrees with the host's clock");
  CHECK(!verdict.speedup);
}

TEST_CASE("a run that takes no time enters no mean, and is nobody's speedup") {
  const model::Verdict candidate = run(fake_task(), fake_plan("instant_square"), true);
  CHECK(candidate.outcome == Outcome::SuspectedCheat);
  CHECK(candidate.checks.back().name == "not faster than possible");
  CHECK(!candidate.speedup);
  const model::Verdict reference = run(fake_task("instant_square"), fake_plan("square"), true);
  CHECK(reference.outcome == Outcome::Unsupported);
  CHECK(!reference.speedup);
}

TEST_CASE("samples under a throttled clock are never a result") {
  FakeDevice device(true);
  device.throttled = true;
  VerifySettings settings;
  settings.measure_budget = std::chrono::milliseconds(20);
  const VerifyResult result =
      verify(device, fake_task(), fake_plan("square"), settings, [](const auto &...) {});
  CHECK(result.verdict.outcome == Outcome::Unsupported);
  CHECK(result.verdict.message.find("clock was held down") != std::string::npos);
  CHECK(!result.verdict.speedup);
}

TEST_CASE("a race of the kernel itself is not the candidate's") {
  check("race", Outcome::Unsupported, "the kernel is a reference",
        "the kernel itself gives two results on the same inputs (n=4096", "race");
}

TEST_CASE("a launch that CUDA refuses at a check size is the candidate's fault, with the size") {
  const model::Verdict verdict =
      run(fake_task(), plan_of("candidate", "square", {"x", "y"}, "n / 256"));
  CHECK(verdict.outcome == Outcome::WrongResult);
  CHECK(verdict.message.find("the grid of square is 0 at n=7, which CUDA refuses") !=
        std::string::npos);
}

/// What measuring alone, without the checks before it, finds wrong with a candidate.
std::optional<Failure> measure_only(const std::string &kernel, std::uint64_t seed,
                                    const std::string &reference_kernel = "square") {
  FakeDevice device(true);
  auto checker = make_host_checker(device);
  Task task = fake_task();
  task.reference = fake_plan(reference_kernel);
  const Plan plan = fake_plan(kernel);
  const StageSink sink = [](const auto &...) {};
  std::optional<Failure> failure;
  {
    Job job(device, *checker, task, plan, sink);
    auto reference = compile_plan(device, task.reference), candidate = compile_plan(device, plan);
    REQUIRE((reference && candidate));
    job.plans.reference = std::move(*reference);
    job.plans.candidate = std::move(*candidate);
    auto measured = measure(job, {.seed = seed});
    REQUIRE(measured.has_value());
    failure = measured->failure;
    CHECK((failure || measured->verified_samples >= 5));
    CHECK((failure || measured->loads >= 12)); // after every second pair, and at a random one
    CHECK((failure || measured->as_called));
    CHECK(
        (failure || measured->speedup->samples == 24)); // steady times are enough at the first look
  }
  CHECK(device.live_allocations == 0);
  return failure;
}

TEST_CASE("results kept by launch count, by pointer or by a first element are caught while timed, "
          "whatever "
          "the seed") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    CHECK(!measure_only("square", seed));
    for (const char *kernel : {"cached", "cached_by_pointer", "cached_by_first_element"}) {
      CAPTURE(kernel);
      const auto failure = measure_only(kernel, seed);
      REQUIRE(failure);
      CHECK(failure->outcome == Outcome::SuspectedCheat);
      CHECK(failure->message.find("depends on earlier runs") != std::string::npos);
    }
  }
}

TEST_CASE("a reference whose timed runs are off is what is named, not the candidate") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto failure = measure_only("square", seed, "cached");
    REQUIRE(failure);
    CHECK(failure->outcome == Outcome::Unsupported);
    CHECK(failure->message.starts_with("the task's reference"));
  }
}

TEST_CASE("timed runs are held to the same tolerance as all others, and to the same guards") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto inexact = measure_only("inexact_after_a_while", seed);
    REQUIRE(inexact);
    CHECK(inexact->check == "right while timed");
    const auto mutating = measure_only("mutate_after_a_while", seed);
    REQUIRE(mutating);
    CHECK(mutating->check == "inputs unchanged");
    CHECK(mutating->message.find("a timed run of the candidate changed") != std::string::npos);
  }
}

TEST_CASE("work that goes on after the clock stopped is seen") {
  const model::Verdict verdict = run(fake_task(), fake_plan("late"), true);
  INFO(verdict.message);
  CHECK(verdict.outcome == Outcome::SuspectedCheat);
  CHECK(verdict.checks.back().name == "nothing runs after the clock stops");
  CHECK(!verdict.speedup);
  CHECK(!verdict.as_called);
}

TEST_CASE("a set of inputs that memory is missing for is done without, but for the first") {
  int before_sets = 0; // allocations
  const auto run = [&](int refused, bool further = false) {
    FakeDevice device(true);
    device.refused_allocation = refused;
    device.refuses_further = further;
    const model::Verdict verdict =
        verify(device, fake_task(), fake_plan("fast_square"),
               {.measure_budget = std::chrono::milliseconds(1), .seed = 3},
               [&](const std::string &, const std::string &activity, Side) {
                 if (activity == "preparing inputs")
                   before_sets = device.allocations;
               })
            .verdict;
    CHECK(device.live_allocations == 0);
    return verdict.outcome;
  };
  REQUIRE(run(0) == Outcome::Verified);
  const int first = before_sets; // x and y of the first set, then of the second
  REQUIRE(first > 0);
  CHECK(run(first + 1, true) == Outcome::Unsupported);
  CHECK(run(first + 2, true) == Outcome::Unsupported);
  CHECK(run(first + 3) == Outcome::Verified);
  CHECK(run(first + 4) == Outcome::Verified);
}

TEST_CASE("memory that is missing while measuring is made by measuring on one set of inputs") {
  FakeDevice device(true);
  int preparations = 0, allocated_at_first = 0;
  const model::Verdict verdict =
      verify(device, fake_task(), fake_plan("fast_square"),
             {.measure_budget = std::chrono::milliseconds(1), .seed = 3},
             [&](const std::string &, const std::string &activity, Side) {
               if (activity == "preparing inputs" && ++preparations == 1)
                 allocated_at_first = device.allocations;
               if (activity == "warming up" && preparations == 1) // the three sets are there
                 device.refused_allocation = device.allocations + 1;
             })
          .verdict;
  CHECK(verdict.outcome == Outcome::Verified);
  CHECK(verdict.speedup);
  CHECK(preparations == 2);
  CHECK(allocated_at_first > 0);
  CHECK(device.live_allocations == 0);
}

TEST_CASE("clocks are recorded where the device tells them") {
  FakeDevice device(true);
  device.clocks = {.sm_mhz = 1980, .power_capped = true};
  const VerifyResult result =
      verify(device, fake_task(), fake_plan("square"),
             {.measure_budget = std::chrono::milliseconds(200), .seed = 2}, [](const auto &...) {});
  REQUIRE(result.verdict.clocks);
  CHECK(result.verdict.clocks->sm_mhz == model::Range{1980, 1980});
  CHECK(!result.verdict.clocks->temperature_c);
  CHECK(result.verdict.clocks->power_capped == true);
  CHECK(model::verdict_from_json(model::to_json(result.verdict)).value() == result.verdict);
}

} // namespace
} // namespace warpwright::runner
