// Move spelling, composition of moves, the search loop and its policy, over a runner that is a function.
#include "generator/search/search.h"
#include "tests/generator/check_move.h"

#include <algorithm>
#include <set>

using namespace warpwright;
using namespace warpwright::search;
using namespace warpwright::source;
using namespace warpwright::states;

using namespace warpwright::test;

namespace {

constexpr const char *kScale = R"cuda(__global__ void ^scale(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i];
}
int main() {
  const int n = 1 << 20;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, y, n);
}
)cuda";

model::Task task_of(const State &state) {
  const analysis::FileFacts facts = analysis::analyze(state.file, state.settings);
  REQUIRE(facts.kernels.size() == 1);
  REQUIRE(facts.kernels[0].task.inferred);
  return facts.kernels[0].task.task;
}

model::Verdict verified(std::optional<double> ratio) {
  model::Verdict verdict;
  verdict.outcome = model::Outcome::Verified;
  if (ratio)
    verdict.speedup = model::Speedup{*ratio, *ratio - 0.05, *ratio + 0.05, 30, "fake"};
  return verdict;
}

/// vectorize doubles the speed, everything else costs a tenth.
model::Verdict timed(const model::Plan &plan) {
  double ratio = 1;
  for (const std::string &move : plan.moves)
    ratio *= move.starts_with("vectorize") ? 2 : 0.9;
  return verified(ratio);
}

} // namespace

TEST_CASE("a move is spelled with its parameters in order and read back") {
  const Move move{"gemm", {{"bn", "64"}, {"bm", "128"}}};
  CHECK(to_string(move) == "gemm(bm=128,bn=64)");
  CHECK(*move_from_string(" gemm( bn = 64, bm=128 ) ") == move);
  CHECK(to_string(Move{"restrict_const", {}}) == "restrict_const()");
  CHECK(*move_from_string("restrict_const") == Move{"restrict_const", {}});
  for (const char *bad :
       {"", "(x=1)", "f(x)", "f(x=)", "f(x=1", "f(x=1,x=2)", "1f(x=1)", "f(x=1,)y"})
    CHECK_FALSE(move_from_string(bad));
}

TEST_CASE("an unknown move and parameters that were not offered are refused by name") {
  const State state = state_of(kScale);
  CHECK(apply_move(state, {"teleport", {}}).error().message == "unknown move teleport");
  CHECK(apply_move(state, {"vectorize", {{"width", "3"}}}).error().message ==
        "vectorize(width=3) is not legal for scale: these parameters are not among the legal ones");
}

TEST_CASE("every pair of legal moves parses") {
  const State original = state_of(kScale);
  int pairs = 0;
  for (const Move &first : legal_moves(original)) {
    auto one = apply_move(original, first);
    REQUIRE(one);
    std::set<std::string> names;
    for (const Move &second : legal_moves(*one)) {
      if (!names.insert(second.name).second)
        continue;
      auto two = apply_move(*one, second);
      REQUIRE_MESSAGE(two, (two ? "" : describe(two.error())));
      CHECK_MESSAGE(parse_errors(*two) == "", two->file.text);
      ++pairs;
    }
  }
  CHECK(pairs > 40);
}

TEST_CASE("a plan holds the edited slice, the edited launch and the moves") {
  const State original = state_of(kScale);
  const model::Task task = task_of(original);
  auto state = apply_move(original, {"vectorize", {{"width", "4"}}});
  REQUIRE(state);
  auto plan = render_plan(*state, task);
  REQUIRE_MESSAGE(plan, (plan ? "" : describe(plan.error())));
  CHECK(plan->moves == std::vector<std::string>{"vectorize(width=4)"});
  CHECK(plan->source.find("float4") != std::string::npos);
  const auto &launch = std::get<model::LaunchStep>(plan->steps.back());
  CHECK(launch.kernel == "scale");
  CHECK(*launch.grid[0].evaluate({{"n", 1025}}) == 2);
  CHECK(*launch.block[0].evaluate({}) == 256);
}

TEST_CASE("the search finds the fastest variant and never tries a text twice") {
  const State original = state_of(kScale);
  const model::Task task = task_of(original);
  auto policy = make_beam_policy();
  std::set<std::string> texts{original.file.text};
  std::size_t shown = 0;
  TextSearchEvents events;
  events.evaluate = [](const model::Task &, const model::Plan &plan, std::stop_token) {
    return timed(plan);
  };
  events.on_variant = [&](const Variant &variant, std::size_t tried) {
    CHECK(texts.insert(variant.state.file.text).second);
    CHECK(tried == ++shown);
  };
  const auto variants = warpwright::search::search(
      original, task, *policy, {.max_variants = 40, .budget = std::chrono::minutes(2)}, events, {});
  CHECK(variants.size() == 40);
  const Variant *best = best_variant(variants);
  REQUIRE(best);
  CHECK(best->verdict.speedup->ratio == doctest::Approx(2));
  CHECK(best->plan.moves.size() == 1);
  CHECK(std::ranges::any_of(variants, [](const Variant &v) {
    return v.state.moves.size() == 2 && v.state.moves[0].name == "vectorize";
  }));
}

TEST_CASE("without times the search walks breadth first and has no best variant") {
  const State original = state_of(kScale);
  auto policy = make_beam_policy();
  TextSearchEvents events;
  events.evaluate = [](const model::Task &, const model::Plan &, std::stop_token) {
    return verified(std::nullopt);
  };
  const auto variants = warpwright::search::search(
      original, task_of(original), *policy, {.max_variants = 12, .budget = std::chrono::minutes(2)},
      events, {});
  CHECK(variants.size() == 12);
  CHECK(best_variant(variants) == nullptr);
  CHECK(
      std::ranges::is_sorted(variants, {}, [](const Variant &v) { return v.state.moves.size(); }));
}

TEST_CASE("the search stops when asked, and a ratio that may be chance is not best") {
  const State original = state_of(kScale);
  auto policy = make_beam_policy(7);
  std::stop_source stop;
  TextSearchEvents events;
  events.evaluate = [&](const model::Task &, const model::Plan &, std::stop_token token) {
    CHECK_FALSE(token.stop_requested());
    return verified(1.04);
  };
  events.on_variant = [&](const Variant &, std::size_t) { stop.request_stop(); };
  const auto variants = warpwright::search::search(
      original, task_of(original), *policy, {.max_variants = 12, .budget = std::chrono::minutes(2)},
      events, stop.get_token());
  CHECK(variants.size() == 1);
  CHECK(best_variant(variants) == nullptr);
}
