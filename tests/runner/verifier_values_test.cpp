// What the verifier makes of values: answers that need no work, rows of very different magnitude, and tasks that
// magnify rounding.
#include "runner/verify/checker.h"
#include "runner/judge/verifier.h"
#include "tests/runner/fake_device.h"
#include "tests/runner/tasks.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

model::Verdict run(const Task &task, const std::string &candidate, std::uint64_t seed = 5) {
  FakeDevice device;
  VerifySettings settings{.measure = false};
  settings.seed = seed;
  const VerifyResult result =
      verify(device, task, fake_plan(candidate), settings, [](const auto &...) {});
  CHECK(device.live_allocations == 0);
  CHECK(model::verdict_from_json(model::to_json(result.verdict)).value() == result.verdict);
  return result.verdict;
}

Task exact_task(const std::string &reference, const std::string &exact) {
  Task task = fake_task(reference);
  task.reference_fp64 = fake_plan(exact);
  return task;
}

const model::Check *check_of(const model::Verdict &verdict, const std::string &name) {
  const auto found = std::ranges::find(verdict.checks, name, &model::Check::name);
  return found == verdict.checks.end() ? nullptr : &*found;
}

TEST_CASE("a task that zeros, a constant, a copy of its input or its last result would pass is "
          "degenerate") {
  for (const auto &[kernel, why] : {std::pair{"zeros", "same value in every element"},
                                    {"near_constant", "one constant passes"},
                                    {"copy", "a copy of its input x passes"},
                                    {"index", "does not depend on its inputs"}}) {
    const model::Verdict verdict = run(fake_task(kernel), kernel);
    CAPTURE(kernel);
    INFO(verdict.message);
    CHECK(verdict.outcome == Outcome::Verified);
    const model::Check *check = check_of(verdict, "the task is not degenerate");
    REQUIRE(check);
    CHECK(!check->passed);
    CHECK(check->detail.find(why) != std::string::npos);
  }
  for (const char *kernel : {"square", "tiny", "thrice", "root"}) {
    const model::Verdict verdict = run(fake_task(kernel), kernel);
    CAPTURE(kernel);
    REQUIRE(check_of(verdict, "the task is not degenerate"));
    CHECK(check_of(verdict, "the task is not degenerate")->passed);
  }
}

TEST_CASE("a task without inputs is degenerate where one constant is its result") {
  Task task = fake_task("constant");
  task.buffers[0].distribution.kind = model::Distribution::Kind::Zeros;
  const model::Check *check = check_of(run(task, "constant"), "the task is not degenerate");
  REQUIRE(check);
  CHECK(!check->passed);
}

TEST_CASE(
    "the floor of a tolerance is as small as the output: zeros for outputs of 4e-6 are wrong") {
  const model::Verdict verdict = run(fake_task("tiny"), "zeros");
  CHECK(verdict.outcome == Outcome::WrongResult);
  CHECK(verdict.checks.back().name == "matches the reference");
}

TEST_CASE("what is accurate for the largest row alone is wrong where rows differ in magnitude") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Task task = exact_task("thrice", "thrice_exactly");
    const model::Verdict wrong = run(task, "thrice_by_largest", seed);
    INFO(wrong.message);
    CHECK(wrong.outcome == Outcome::WrongResult);
    CHECK(wrong.checks.back().name == "rows of different magnitude");
    const model::Verdict right = run(task, "thrice", seed);
    CHECK(right.outcome == Outcome::Verified);
    REQUIRE(check_of(right, "rows of different magnitude"));
    CHECK(check_of(right, "rows of different magnitude")->detail == "x: judged");
  }
  // Without an fp64 reference nothing tells whose rounding it is.
  CHECK(!check_of(run(fake_task("thrice"), "thrice"), "rows of different magnitude"));
}

TEST_CASE("a reference that loops on values is not asked about rows of different magnitude") {
  Task task = exact_task("thrice", "thrice_exactly");
  task.reference.source = "while (x > 1) x /= 2;";
  const model::Verdict verdict = run(task, "thrice_by_largest");
  CHECK(verdict.outcome == Outcome::Verified);
  CHECK(check_of(verdict, "rows of different magnitude")->detail.find("not tried") !=
        std::string::npos);
}

TEST_CASE("a task that magnifies rounding is called ill-conditioned, with a bound that follows") {
  const Task task = exact_task("swing", "swing_exactly");
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const model::Verdict other = run(task, "swing_otherwise", seed);
    INFO(other.message);
    CHECK(other.outcome == Outcome::Verified);
    REQUIRE(other.conditioning);
    CHECK(other.conditioning->output == "y");
    CHECK(other.conditioning->spread > 1e-2);
    CHECK(other.conditioning->candidate <= other.conditioning->allowed);
    CHECK(other.message.find("ill-conditioned") != std::string::npos);
    REQUIRE(check_of(other, "well-conditioned"));
    CHECK(!check_of(other, "well-conditioned")->passed);
    CHECK(run(task, "swing_off", seed).outcome == Outcome::WrongResult);
  }
  CHECK(!run(exact_task("thrice", "thrice_exactly"), "thrice").conditioning);
}

TEST_CASE("integers that rounding decides may differ as often as the reference's, where rounding explains each") {
  Task task = exact_task("steps", "steps_exactly");
  task.buffers[1].dtype = model::Dtype::Int32;
  int noted = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const model::Verdict right = run(task, "steps_by_quotient", seed);
    CHECK_MESSAGE(right.outcome == Outcome::Verified, right.message);
    const model::Check *note = check_of(right, "fp64 reference");
    noted += note && note->detail.starts_with("rounding decides elements of y: of ");
    for (const char *wrong : {"steps_but_last", "coarse_steps"})
      CHECK_MESSAGE(run(task, wrong, seed).outcome == Outcome::WrongResult, wrong);
  }
  CHECK(noted == 10);
}

TEST_CASE("rows of a drawing are scaled in bands, the same in both precisions") {
  FakeDevice device;
  auto checker = make_host_checker(device);
  constexpr std::uint64_t kRows = 16, kRow = 32;
  for (const bool promote : {false, true}) {
    element::Draw draw =
        make_draw(Dtype::Float32, model::Distribution::Kind::Normal, 0, 1, 9, 1, promote);
    std::vector<std::uint64_t> plain(kRows * kRow), banded(kRows * kRow);
    const auto address = [](auto &values) { return reinterpret_cast<Address>(values.data()); };
    REQUIRE(checker->generate(draw, address(plain), kRows * kRow));
    draw.bands = {.rows = kRows, .row_size = kRow, .low = 0, .high = 30};
    REQUIRE(checker->generate(draw, address(banded), kRows * kRow));
    const auto value = [&](auto &values, std::uint64_t i) {
      const int type = promote ? element::Float64 : element::Float32;
      return element::to_double(type, element::load_bits(values.data(), promote ? 8 : 4, i));
    };
    CHECK(value(banded, 5) == value(plain, 5));
    CHECK(value(banded, kRow) == value(plain, kRow)); // two rows a band
    CHECK(value(banded, 15 * kRow + 3) == doctest::Approx(value(plain, 15 * kRow + 3) * 0x1p30));
    // A change in place does the same.
    if (!promote) {
      const element::Change change{element::Float32, element::Change::ScaleBands, draw.bands};
      REQUIRE(checker->change(change, address(plain), kRows * kRow));
      CHECK(plain == banded);
    }
  }
}

TEST_CASE("rounded inputs lie one unit in the last place away, in both directions") {
  FakeDevice device;
  auto checker = make_host_checker(device);
  std::vector<float> values(1000, 1.5F);
  const element::Change change{.type = element::Float32,
                               .what = element::Change::Round,
                               .bands = {},
                               .unit = unit_in_last_place(Dtype::Float32),
                               .seed = 3,
                               .bits = 0};
  REQUIRE(checker->change(change, reinterpret_cast<Address>(values.data()), values.size()));
  int up = 0;
  for (const float value : values) {
    CHECK(std::abs(std::abs(value - 1.5F) - 1.5F * 0x1p-23F) <= 1.5F * 0x1p-24F);
    up += value > 1.5F;
  }
  CHECK(up > 400);
  CHECK(up < 600);
}

} // namespace
} // namespace warpwright::runner
