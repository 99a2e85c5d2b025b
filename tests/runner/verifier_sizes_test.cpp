// At which sizes the verifier asks a candidate, on the fake device: the task's, smaller ones where it is slow, and those that nobody
// named.
#include "runner/verify/hidden_sizes.h"
#include "runner/judge/verifier.h"
#include "tests/runner/fake_device.h"
#include "tests/runner/tasks.h"

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

model::Verdict verdict_of(const Task &task, const Plan &plan, std::uint64_t seed = 11) {
  FakeDevice device;
  return verify(device, task, plan, {.seed = seed}, [](const auto &...) {}).verdict;
}

TEST_CASE("a slow device verifies at the largest check sizes that suit it, and says so") {
  FakeDevice device;
  device.preferred_max_elements = 3000; // 4096 elements in x and y each are too many, 1025 are not
  const VerifyResult result =
      verify(device, fake_task(), fake_plan("square"), {.seed = 3}, [](const auto &...) {});
  CHECK(result.verdict.outcome == Outcome::Verified);
  const auto &checks = result.verdict.checks;
  const auto sizes = std::find_if(checks.begin(), checks.end(),
                                  [](const model::Check &check) { return check.name == "sizes"; });
  REQUIRE(sizes != checks.end());
  CHECK(sizes->detail.find("verified up to n=1025; n=4096 is more") != std::string::npos);
}

const model::Check *sizes_check(const model::Verdict &verdict) {
  const auto found = std::ranges::find(verdict.checks, "sizes", &model::Check::name);
  return found == verdict.checks.end() ? nullptr : &*found;
}

TEST_CASE("where the reference is not at home, check sizes are dropped, and others found for a "
          "slow device") {
  const model::Verdict verdict = verdict_of(fake_task("fours"), fake_plan("square"));
  INFO(verdict.message);
  CHECK(verdict.outcome == Outcome::Verified);
  REQUIRE(sizes_check(verdict));
  CHECK(sizes_check(verdict)->detail ==
        "not at n=7: the reference gives two results on the same inputs; not at n=1025: the "
        "reference gives two results on the same "
        "inputs");
  const auto slowly = [](const char *reference) {
    FakeDevice device;
    device.preferred_max_elements = 3000;
    return verify(device, fake_task(reference), fake_plan("square"), {.seed = 3},
                  [](const auto &...) {})
        .verdict;
  };
  const model::Verdict halved = slowly("fours");
  CHECK(halved.outcome == Outcome::Verified);
  REQUIRE(sizes_check(halved));
  CHECK(sizes_check(halved)->detail.starts_with("verified up to n=1024; n=4096 is more"));
  const model::Verdict nowhere = slowly("race");
  CHECK(nowhere.outcome == Outcome::Unsupported);
  CHECK(nowhere.message.contains("the kernel itself is at home at none of the sizes"));
  CHECK(nowhere.message.contains("n=1025: it gives two results on the same inputs"));
}

const model::Check *hidden_check(const model::Verdict &verdict) {
  for (const model::Check &check : verdict.checks)
    if (check.name == "sizes that the task does not name")
      return &check;
  return nullptr;
}

TEST_CASE("a candidate that knows the task's sizes is wrong at sizes that nobody named") {
  const model::Verdict verdict = verdict_of(fake_task(), fake_plan("named_sizes_only"));
  CHECK(verdict.outcome == Outcome::WrongResult);
  REQUIRE(hidden_check(verdict));
  CHECK(!hidden_check(verdict)->passed);
  CHECK(verdict.message.find("(hidden sizes n=") != std::string::npos);
  FakeDevice device;
  const VerifyResult blind = verify(device, fake_task(), fake_plan("named_sizes_only"),
                                    {.hidden_sizes = false, .seed = 1}, [](const auto &...) {});
  CHECK(blind.verdict.outcome == Outcome::Verified);
  CHECK(!hidden_check(blind.verdict));
}

TEST_CASE("where the reference is not at home, hidden sizes are dropped, and nobody is blamed") {
  const Task task = fake_task("up_to_a_thousand");
  bool dropped = false, announced = false;
  for (std::uint64_t seed = 1; seed <= 40 && !(dropped && announced); ++seed) {
    FakeDevice device;
    const VerifyResult result =
        verify(device, task, fake_plan("square"), {.seed = seed},
               [&](const std::string &, const std::string &activity, Side running) {
                 announced =
                     announced || (running == Side::Reference &&
                                   activity.find("at hidden sizes n=") != std::string::npos);
               });
    CHECK(result.verdict.outcome == Outcome::Verified);
    const model::Check *check = hidden_check(result.verdict);
    REQUIRE(check);
    CHECK(check->passed);
    dropped = dropped || (check->detail.find("not at n=") != std::string::npos &&
                          check->detail.find("outputs unwritten") != std::string::npos);
  }
  CHECK(dropped);
  CHECK(announced);
}

TEST_CASE("kernels of vectors whose sizes are all even are tried at multiples alone") {
  const auto detail = [](const std::string &source, std::uint64_t seed) {
    Task task = fake_task();
    task.check_sizes = {{{"n", 8}}, {{"n", 1024}}};
    task.reference = plan_of(source, "fours", {"x", "y"});
    FakeDevice device;
    const auto verdict =
        verify(device, task, fake_plan("square"), {.seed = seed}, [](const auto &...) {}).verdict;
    CHECK(verdict.outcome == Outcome::Verified);
    REQUIRE(hidden_check(verdict));
    return hidden_check(verdict)->detail;
  };
  bool dropped = false;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::string vectors = detail("float4", seed);
    CHECK(vectors.starts_with("at n="));
    CHECK_FALSE(vectors.contains("not at"));
    dropped = dropped || detail("float", seed).contains("not at n=");
  }
  CHECK(dropped);
}

TEST_CASE("hidden sizes lie between the known ones and keep their equalities and products") {
  Task task;
  task.sizes = {{"batch", 4}, {"rows", 64}, {"cols", 48}, {"n", 3072}, {"pitch", 48}};
  task.check_sizes = {{{"batch", 4}, {"rows", 3}, {"cols", 5}, {"n", 15}, {"pitch", 5}}};
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    auto sizes = draw_hidden_sizes(task, HiddenSizes::Any, random,
                                   [](const symbolic::Sizes &) { return true; });
    REQUIRE(sizes);
    CHECK((*sizes)["batch"] == 4);
    CHECK(((*sizes)["rows"] >= 3 && (*sizes)["rows"] <= 64));
    CHECK(((*sizes)["cols"] >= 5 && (*sizes)["cols"] <= 48));
    CHECK((*sizes)["n"] == (*sizes)["rows"] * (*sizes)["cols"]);
    CHECK((*sizes)["pitch"] == (*sizes)["cols"]);
  }
  CHECK(!draw_hidden_sizes(task, HiddenSizes::Any, random,
                           [](const symbolic::Sizes &) { return false; }));
  task.check_sizes = {{{"batch", 4}, {"rows", 16}, {"cols", 16}, {"n", 256}, {"pitch", 16}}};
  for (int i = 0; i < 100; ++i)
    if (auto sizes = draw_hidden_sizes(task, HiddenSizes::Multiples, random,
                                       [](const symbolic::Sizes &) { return true; })) {
      CHECK((*sizes)["rows"] % 16 == 0);
      CHECK((*sizes)["cols"] % 16 == 0);
      CHECK((*sizes)["rows"] <= 64);
    }
  task.check_sizes.clear();
  CHECK(!draw_hidden_sizes(task, HiddenSizes::Any, random,
                           [](const symbolic::Sizes &) { return true; }));
}

} // namespace
} // namespace warpwright::runner
