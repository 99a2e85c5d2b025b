// Contributions of moves, from the verdicts of variants with fewer moves.
#include "server/ablation.h"
#include "server/features/gain_text.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;

namespace {

runner::LedgerEntry entry(std::vector<std::string> moves, double ratio, double width = 0.01) {
  runner::LedgerEntry made;
  made.plan.moves = std::move(moves);
  made.verdict.outcome = model::Outcome::Verified;
  made.verdict.device = {.kind = "cuda", .name = "NVIDIA H200"};
  made.verdict.speedup = model::Speedup{ratio, ratio - width, ratio + width, 40, "NVIDIA H200"};
  return made;
}

std::vector<Contribution> parts(const runner::LedgerEntry &best,
                                const std::vector<runner::LedgerEntry> &others) {
  std::vector<const runner::LedgerEntry *> all{&best};
  for (const runner::LedgerEntry &other : others)
    all.push_back(&other);
  return contributions(best, all);
}

} // namespace

TEST_CASE("the contributions of the moves multiply to the whole speedup") {
  const auto best = entry({"a()", "b()", "c()"}, 6);
  const auto found = parts(best, {entry({"a()", "b()"}, 6), entry({"a()"}, 4), entry({"b()"}, 1.5)});
  REQUIRE(found.size() == 3);
  CHECK(found[0].moves == std::vector<std::string>{"a()"});
  CHECK(found[0].ratio == doctest::Approx(4));
  CHECK(found[1].ratio == doctest::Approx(1.5));
  CHECK(found[1].is_measurable());
  CHECK(found[2].ratio == doctest::Approx(1));
  CHECK_FALSE(found[2].is_measurable());
}

TEST_CASE("moves between which nothing was measured have one contribution") {
  const auto found = parts(entry({"a()", "b()", "c()"}, 6), {entry({"a()"}, 4)});
  REQUIRE(found.size() == 2);
  CHECK(found[1].moves == std::vector<std::string>{"b()", "c()"});
  CHECK(found[1].ratio == doctest::Approx(1.5));
}

TEST_CASE("other devices, other sizes and refused variants say nothing of a move") {
  auto elsewhere = entry({"a()"}, 4), larger = entry({"a()"}, 4), wrong = entry({"a()"}, 4);
  elsewhere.verdict.device.name = "NVIDIA A100";
  larger.verdict.measured_sizes = "n=2";
  wrong.verdict.outcome = model::Outcome::WrongResult;
  CHECK(parts(entry({"a()", "b()"}, 6), {elsewhere, larger, wrong}).empty());
  CHECK(parts(entry({"a()"}, 6), {}).empty());
}

TEST_CASE("the moves are named with their contributions, and without them alone") {
  const auto best = entry({"a()", "b()"}, 4), first = entry({"a()"}, 4);
  KernelStatus status;
  status.current = {&best, &first};
  CHECK(features::moves_with_contributions(best, status) ==
        "a() 4.00x, b() 1.00x (no measurable effect)");
  status.current = {&best};
  CHECK(features::moves_with_contributions(best, status) == "a(), b()");
}
