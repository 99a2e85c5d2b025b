// The search over plans: what it proposes first, that it follows what was measured, and that it ends.
#include "generator/ops/text.h"
#include "generator/search/measured_regions.h"
#include "generator/search/torch_search.h"
#include "support/model/json.h"
#include "tests/generator/devices.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_harness.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <doctest/doctest.h>
#include <limits>
#include <set>
#include <thread>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;
using namespace warpwright::planning;
using namespace warpwright::search;
using elements::Configuration;
using model::Shape;

namespace {

model::Task task_of(const model::Graph &graph) {
  model::Task task;
  const GraphIndex index(graph);
  const PlanBuffers buffers = plan_buffers(graph);
  for (const auto &node : graph.nodes)
    if (buffers.leaves.contains(node.name)) {
      model::Buffer buffer;
      buffer.name = node.name;
      task.buffers.push_back(buffer);
    }
  for (const std::string &output : buffers.outputs) {
    model::Buffer buffer;
    buffer.name = output;
    buffer.direction = model::Direction::Out;
    task.buffers.push_back(buffer);
  }
  return task;
}

model::Graph network(std::int64_t channels = 4, std::int64_t size = 6) {
  GraphBuilder g;
  const std::string x = g.input("x", {2, channels, size, size}), w = g.parameter("w", {channels, channels, 3, 3}),
                    b = g.parameter("b", {channels});
  const std::string c = g.op("conv", {x, w, b},
                             {{"stride", Shape{1, 1}},
                              {"padding", Shape{1, 1}},
                              {"dilation", Shape{1, 1}},
                              {"groups", std::int64_t{1}}});
  return g.graph({g.op("softmax", {g.op("relu", {c})}, {{"dim", std::int64_t{1}}})});
}

/// Verified, and as fast as `speed` says of the plan's moves.
TorchSearchEvents measured(const std::function<double(const model::Plan &)> &speed) {
  TorchSearchEvents events;
  events.evaluate = [speed](const model::Task &, const model::Plan &plan, std::stop_token) {
    model::Verdict verdict;
    verdict.outcome = model::Outcome::Verified;
    verdict.speedup = model::Speedup{};
    verdict.speedup->ratio = speed(plan);
    return verdict;
  };
  return events;
}

/// Verified, each launch as long as its name and sizes say.
TorchSearchEvents timed_by_steps() {
  TorchSearchEvents events;
  events.evaluate = [](const model::Task &, const model::Plan &plan, std::stop_token) {
    model::Verdict verdict;
    verdict.outcome = model::Outcome::Verified;
    verdict.speedup = model::Speedup{};
    double sum = 0;
    for (const model::Step &step : plan.steps) {
      const auto &launch = std::get<model::LaunchStep>(step);
      const std::string text = launch.kernel + launch.grid[0].text() + "," + launch.block[0].text() + "," + launch.block[1].text();
      verdict.step_ns.push_back(100.0 + static_cast<double>(std::hash<std::string>()(text) % 1000));
      sum += verdict.step_ns.back();
    }
    verdict.speedup->ratio = 1e6 / sum;
    return verdict;
  };
  return events;
}

bool in_tf32(const TorchVariant &variant) {
  return std::ranges::any_of(variant.proposal.built.regions, [](const BuiltRegion &region) {
    const auto math = region.configuration.find("math");
    return math != region.configuration.end() && (math->second == 1 || math->second == 2);
  });
}

} // namespace

TEST_CASE("Every proposal is another plan with a kernel of ours, and the search ends") {
  GraphBuilder g;
  const std::string x = g.input("x", {64, 32}), w = g.parameter("w", {32, 48}),
                    v = g.parameter("v", {48, 32});
  const model::Graph products =
      g.graph({g.op("add", {g.op("matmul", {g.op("gelu", {g.op("matmul", {x, w})}), v}), x})});
  const auto by_library = [](const model::Plan &plan) {
    return 1.0 + std::ranges::count_if(plan.steps, [](const model::Step &step) {
             return std::holds_alternative<model::AtenStep>(step);
           });
  };
  for (const model::Graph &graph : {network(), products}) {
    const model::Task task = task_of(graph);
    DescentPolicy policy(task, graph, h200());
    auto tried = search_torch(task, policy, {400, std::chrono::hours(1)}, measured(by_library), {});
    CHECK(tried.size() > 3);
    CHECK(tried.size() < 400);
    for (TorchVariant &variant : tried)
      variant.proposal.built.plan.moves.clear(); // another name alone makes no other plan
    for (std::size_t i = 0; i < tried.size(); ++i) {
      CHECK(tried[i].proposal.built.kernels > 0);
      for (std::size_t j = 0; j < i; ++j)
        CHECK_FALSE(tried[i].proposal.built.plan == tried[j].proposal.built.plan);
    }
  }
}

TEST_CASE("The search keeps what was faster and changes that") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  // Channels-last convolutions are good here, and softmax in small blocks on top of that.
  const auto speed = [](const model::Plan &plan) {
    double ratio = 1;
    for (const std::string &move : plan.moves) {
      if (move.find("channels_last") != std::string::npos)
        ratio += 1;
      if (move.find("rows") != std::string::npos)
        ratio += 1.0 / static_cast<double>(1 + std::hash<std::string>()(move) % 100);
    }
    return ratio;
  };
  const auto tried = search_torch(task, policy, {60, std::chrono::hours(1)}, measured(speed), {});
  const TorchVariant *best = best_torch_variant(tried);
  REQUIRE(best);
  CHECK(best->verdict.speedup->ratio > 2);
}

TEST_CASE("Regions try their configurations at the same time, and each keeps the fastest") {
  GraphBuilder g;
  const std::string rows = g.op("softmax", {g.input("x", {256, 384})}, {{"dim", std::int64_t{1}}}),
                    columns = g.op("softmax", {rows}, {{"dim", std::int64_t{0}}});
  const model::Graph graph =
      g.graph({g.op("layer_norm", {columns}, {{"dims", Shape{1}}, {"eps", 1e-5}, {"absent", std::string("weight,bias")}})});
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  const TorchSearchEvents events = timed_by_steps();
  const auto tried = search_torch(task, policy, {12, std::chrono::hours(1)}, events, {});
  const TorchVariant *best = best_torch_variant(tried);
  REQUIRE(best);
  const std::map<std::string, double> fastest = region_seconds(*best);
  REQUIRE(fastest.size() == 3);
  std::set<Configuration> first;
  for (const TorchVariant &variant : tried) {
    first.insert(variant.proposal.built.regions[0].configuration);
    for (const auto &[region, seconds] : region_seconds(variant))
      if (fastest.contains(region))
        CHECK(fastest.at(region) <= seconds);
  }
  CHECK(first.size() > 4); // of a dozen plans, which single changes would have shared among three regions
}

TEST_CASE("A graph with a constant that is no number is equal to itself") {
  GraphBuilder g;
  const std::string x = g.input("x", {64, 96});
  const std::string held = g.op("where", {g.op("gt", {x, g.constant(9)}), g.constant(std::numeric_limits<double>::quiet_NaN()), x});
  const model::Graph graph = g.graph({g.op("softmax", {held}, {{"dim", std::int64_t{1}}}), g.op("sum", {held}, {{"dims", Shape{0}}})});
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  const auto tried = search_torch(task, policy, {6, std::chrono::hours(1)}, timed_by_steps(), {});
  CHECK(tried.size() == 6);
  REQUIRE(best_torch_variant(tried));
}

TEST_CASE("Where TF32 is refused, only FP32-accurate plans follow") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  TorchSearchEvents events = measured([](const model::Plan &) { return 1.0; });
  events.evaluate = [](const model::Task &, const model::Plan &plan, std::stop_token) {
    model::Verdict verdict;
    verdict.outcome = model::Outcome::Verified;
    for (const std::string &move : plan.moves)
      if (move.find("math=1") != std::string::npos || move.find("math=2") != std::string::npos)
        verdict.outcome = model::Outcome::WrongResult;
    return verdict;
  };
  const auto tried = search_torch(task, policy, {40, std::chrono::hours(1)}, events, {});
  REQUIRE(tried.size() > 10);
  const auto refused = std::ranges::find_if(tried, in_tf32);
  REQUIRE(refused != tried.end());
  CHECK(std::none_of(refused + 1, tried.end(), in_tf32));
  CHECK(std::any_of(refused + 1, tried.end(), [](const TorchVariant &variant) {
    return variant.proposal.built.regions.front().planned.choice.family == "convolution";
  }));
}

TEST_CASE("What passed and was refused afterwards teaches the search that goes on") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  const TorchSearchEvents events = measured([](const model::Plan &) { return 1.0; });
  auto tried = search_torch(task, policy, {6, std::chrono::hours(1)}, events, {});
  REQUIRE(tried.size() == 6);
  REQUIRE(std::ranges::any_of(tried, in_tf32));
  for (TorchVariant &variant : tried)
    variant.verdict.outcome = model::Outcome::WrongResult;
  tried = search_torch(task, policy, {8, std::chrono::hours(1)}, events, {}, std::move(tried));
  REQUIRE(tried.size() == 14);
  CHECK(tried[0].verdict.outcome == model::Outcome::WrongResult);
  CHECK(std::none_of(tried.begin() + 6, tried.end(), in_tf32));
}

TEST_CASE("Approximate functions come first for halves and later for floats, and fewer of them "
          "where they are refused") {
  const auto level = [](const TorchVariant &variant) {
    return variant.proposal.built.applied.fast_math;
  };
  const auto tried_for = [&](model::Dtype dtype, int most_right) {
    GraphBuilder g;
    const std::string x = g.input("x", {64, 512}, dtype);
    const model::Graph graph = g.graph({g.op("div", {g.op("silu", {x}), g.op("exp", {x})})});
    const model::Task task = task_of(graph);
    DescentPolicy policy(task, graph, h200());
    TorchSearchEvents events;
    events.evaluate = [&](const model::Task &, const model::Plan &plan, std::stop_token) {
      CHECK(model::plan_from_json(model::to_json(plan)).has_value()); // a runner takes its options
      const bool divides =
          std::ranges::find(plan.options, "--prec-div=false") != plan.options.end();
      const int needs = plan.source.contains("__expf") ? 2 : divides ? 1 : 0;
      model::Verdict verdict;
      verdict.outcome =
          needs <= most_right ? model::Outcome::Verified : model::Outcome::WrongResult;
      return verdict;
    };
    return search_torch(task, policy, {20, std::chrono::hours(1)}, events, {});
  };
  for (const int most : {0, 1, 2}) {
    CAPTURE(most);
    for (const model::Dtype dtype : {model::Dtype::BFloat16, model::Dtype::Float32}) {
      const auto tried = tried_for(dtype, most);
      REQUIRE(tried.size() > 3);
      CHECK(level(tried[0]) == (dtype == model::Dtype::BFloat16 ? 2 : 0));
      CHECK(std::ranges::any_of(tried, [&](const TorchVariant &one) {
        return level(one) == most && one.verdict.outcome == model::Outcome::Verified;
      }));
      CHECK(std::ranges::count_if(
                tried, [&](const TorchVariant &one) { return level(one) > most; }) == 2 - most);
    }
  }
}

TEST_CASE("The error function is approximated where halves hide it, and first given up") {
  GraphBuilder g;
  const std::string x = g.input("x", {64, 512}, model::Dtype::BFloat16);
  const model::Graph graph = g.graph({g.op("mul", {g.op("erf", {x}), g.op("exp", {x})})});
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  TorchSearchEvents events;
  events.evaluate = [&](const model::Task &, const model::Plan &plan, std::stop_token) {
    model::Verdict verdict;
    verdict.outcome = plan.source.contains("#define WARPWRIGHT_FAST_ERF")
                          ? model::Outcome::WrongResult
                          : model::Outcome::Verified;
    return verdict;
  };
  const auto tried = search_torch(task, policy, {6, std::chrono::hours(1)}, events, {});
  REQUIRE(tried.size() > 1);
  CHECK(tried[0].proposal.built.applied.fast_math == 3);
  CHECK(tried[1].proposal.built.applied.fast_math == 2);
  CHECK(tried[1].verdict.outcome == model::Outcome::Verified);
}

TEST_CASE("Attention as products means the same") {
  GraphBuilder g;
  const std::string q = g.input("q", {2, 3, 5, 4}), k = g.input("k", {2, 3, 7, 4}),
                    v = g.input("v", {2, 3, 7, 6});
  const model::Graph graph = g.graph({g.op("attention", {q, k, v}, {{"causal", false}})});
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, {arch::gpu_named("cpu").value()});
  const auto proposal = policy.propose({});
  REQUIRE(proposal);
  HarnessOptions options;
  options.tolerance = 1e-4;
  CHECK(check_plan_results(proposal->built, graph, options) == "");
}

TEST_CASE("What a search ended with is where the next one begins, also through JSON") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  // The slowest way is the best here, so that no first guess is.
  const auto tried = search_torch(
      task, policy, {12, std::chrono::hours(1)},
      measured([](const model::Plan &plan) { return static_cast<double>(plan.steps.size()); }), {});
  const TorchVariant *best = best_torch_variant(tried);
  REQUIRE(best);
  REQUIRE(best != &tried.front());
  const auto recipe = recipe_from_json(to_json(recipe_of(best->proposal)));
  REQUIRE(recipe);
  DescentPolicy next(task, graph, h200(), *recipe);
  const auto first = next.propose({});
  REQUIRE(first);
  CHECK(first->built.plan == best->proposal.built.plan);
}

TEST_CASE("A recipe of another graph does not keep a search from beginning") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  const Recipe other{{"matmul-diagonal(%nothing)"}, {}};
  DescentPolicy first_guess(task, graph, h200());
  Recipe stale = recipe_of(*first_guess.propose({}));
  stale.choices.configurations.clear();
  for (const auto &node : graph.nodes)
    stale.choices.configurations[node.name] = {{"threads", -1}};
  for (const Recipe &recipe : {other, stale}) {
    DescentPolicy policy(task, graph, h200(), recipe), plain(task, graph, h200());
    const auto first = policy.propose({}), expected = plain.propose({});
    REQUIRE(first);
    CHECK(first->built.plan == expected->built.plan);
  }
  CHECK_FALSE(recipe_from_json({{"rewrites", 3}}).has_value());
}

TEST_CASE("Variants in work at a time are as many as asked, each judged once, first guesses before "
          "all else") {
  const model::Graph graph = network(32, 32); // not so short that it is never the library's
  const model::Task task = task_of(graph);
  std::atomic<int> now = 0, most = 0, calls = 0;
  std::barrier together(2);
  TorchSearchEvents events;
  events.evaluate = [&](const model::Task &, const model::Plan &, std::stop_token) {
    const int at_once = ++now;
    if (at_once > most)
      most = at_once;
    if (calls++ < 2)
      together.arrive_and_wait(); // each ends only when the other has begun
    --now;
    model::Verdict verdict;
    verdict.outcome = model::Outcome::Verified;
    verdict.speedup = model::Speedup{};
    verdict.speedup->ratio = 1;
    return verdict;
  };
  DescentPolicy policy(task, graph, h200()), alone(task, graph, h200());
  const auto tried = search_torch(task, policy, {8, std::chrono::hours(1), 2}, events, {});
  const auto one_by_one = search_torch(task, alone, {8, std::chrono::hours(1)},
                                       measured([](const model::Plan &) { return 1.0; }), {});
  CHECK(most == 2);
  REQUIRE(tried.size() == 8);
  CHECK(tried.front().proposal.built.plan == one_by_one.front().proposal.built.plan);
  for (std::size_t i = 0; i < tried.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      CHECK_FALSE(tried[i].proposal.built.plan == tried[j].proposal.built.plan);
}

TEST_CASE("A variant that is quick enough ends the search, a wrong one does not") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  int calls = 0;
  TorchSearchEvents events;
  events.evaluate = [&](const model::Task &, const model::Plan &, std::stop_token) {
    const double times[] = {200, 50, 120, 99, 80};
    model::Verdict verdict;
    verdict.outcome = calls == 1 ? model::Outcome::WrongResult : model::Outcome::Verified;
    verdict.candidate_time = model::Time{};
    verdict.candidate_time->median_ns = times[std::min(calls++, 4)];
    return verdict;
  };
  SearchLimits limits{.max_variants = 8, .budget = std::chrono::hours(1)};
  limits.enough_ns = 100;
  CHECK(search_torch(task, policy, limits, events, {}).size() == 4);
}

TEST_CASE(
    "In a network what tensor cores multiply goes channels-last, and nothing else does") {
  GraphBuilder g;
  std::string x = g.input("x", {16, 64, 56, 56});
  const Shape shape{16, 64, 56, 56};
  const auto conv = [&](const std::string &name, std::int64_t groups) {
    const std::string weight = g.parameter(name, {64, 64 / groups, 3, 3});
    return g.shaped("conv", {x, weight}, shape,
                    {{"stride", Shape{1, 1}},
                     {"padding", Shape{1, 1}},
                     {"dilation", Shape{1, 1}},
                     {"groups", groups}});
  };
  std::set<std::string> depthwise;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t groups = i % 2 == 0 ? 1 : 64;
    x = conv("w" + std::to_string(i), groups);
    if (groups == 64)
      depthwise.insert(x);
    x = g.shaped("relu", {x}, shape);
  }
  const model::Graph graph = g.graph({x});
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  for (int variant = 0; variant < 3; ++variant) {
    const auto proposal = policy.propose({});
    REQUIRE(proposal);
    int channels_last = 0;
    for (const BuiltRegion &region : proposal->built.regions) {
      const std::string &anchor = region.planned.region.anchor;
      if (depthwise.contains(anchor))
        CHECK(region.planned.choice.family == "depthwise");
      else if (!anchor.empty())
        channels_last += region.planned.choice.channels_last;
    }
    // The library, the mixture that estimates prefer, and ours on contiguous memory.
    CHECK(channels_last == (variant == 2 ? 0 : 2));
  }
}

TEST_CASE("Convolutions go to the library channels-last where that is expected to be quicker") {
  const auto first = [](const std::string &batch_channels_size, const std::string &out_size) {
    const auto graph = parse_graph("%x: f32[" + batch_channels_size + "] = input\n" + R"(
%w: f32[128,64,3,3] = parameter {torch_name="conv.weight"}
%c: f32[)" + out_size + R"(] = conv(%x, %w) {stride=[1,1], padding=[1,1], dilation=[1,1], groups=1}
%m: f32[)" + out_size + R"(] = mish(%c)
return %m
)");
    REQUIRE_MESSAGE(graph.has_value(), (graph ? "" : describe(graph.error())));
    const model::Task task = task_of(*graph);
    DescentPolicy policy(task, *graph, h200());
    const auto proposal = policy.propose({});
    REQUIRE(proposal);
    return std::ranges::find(proposal->built.plan.moves, "aten(conv, channels_last)") !=
           proposal->built.plan.moves.end();
  };
  CHECK(first("64,64,256,256", "64,128,256,256"));
  CHECK_FALSE(first("1,64,16,16", "1,128,16,16"));
}

TEST_CASE("A search whose plans were all wrong goes on when its budget is spent") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  DescentPolicy policy(task, graph, h200());
  using Clock = std::chrono::steady_clock;
  const auto budget = std::chrono::milliseconds(500);
  const auto over = Clock::now() + budget * 2;
  int evaluated = 0;
  TorchSearchEvents events;
  events.evaluate = [&](const model::Task &, const model::Plan &, std::stop_token) {
    while (Clock::now() < over) // the first takes longer than all may
      std::this_thread::yield();
    model::Verdict verdict;
    verdict.outcome = ++evaluated == 3 ? model::Outcome::Verified : model::Outcome::WrongResult;
    return verdict;
  };
  const auto tried = search_torch(task, policy, {20, budget}, events, {});
  CHECK(tried.size() == 3);
}

TEST_CASE("Plans that all crash alike end the search, other failures among them do not") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  const auto tried = [&](const std::string &third) {
    DescentPolicy policy(task, graph, h200());
    int calls = 0;
    TorchSearchEvents events;
    events.evaluate = [&](const model::Task &, const model::Plan &, std::stop_token) {
      model::Verdict verdict;
      verdict.outcome = model::Outcome::Crash;
      verdict.message = ++calls == 3 ? third : "the reference failed";
      return verdict;
    };
    return search_torch(task, policy, {7, std::chrono::hours(1)}, events, {}).size();
  };
  CHECK(tried("the reference failed") == kCrashesAlike);
  CHECK(tried("another reason") == 7);
}

TEST_CASE("The times of steps give each product the family that computed it fastest") {
  GraphBuilder g;
  const std::string x = g.input("x", {64, 96});
  const std::string first = g.op("matmul", {x, g.parameter("w1", {96, 128})});
  const std::string second = g.op("matmul", {g.op("tanh", {first}), g.parameter("w2", {128, 32})});
  const model::Graph graph = g.graph({g.op("sin", {second})});
  // A product of ours has the function behind it in its region; behind the library's it is a region of its own.
  const auto variant = [&](const std::string &family, double first_ns, double second_ns) {
    GraphState state{graph, {}, {}};
    for (const std::string &anchor : {first, second})
      state.choices.anchors[anchor].family = family;
    auto built = build_state(state, plan_buffers(graph), HarnessOptions{}.facts);
    REQUIRE(built.has_value());
    TorchVariant made{{state, std::move(*built)}, {}};
    made.verdict.outcome = model::Outcome::Verified;
    made.verdict.speedup = model::Speedup{};
    made.verdict.step_ns.assign(made.proposal.built.plan.steps.size(), 0.0);
    for (const BuiltRegion &region : made.proposal.built.regions) {
      REQUIRE(!region.steps.empty());
      const std::string &anchor = region.planned.region.anchor;
      made.verdict.step_ns.at(region.steps.front()) = anchor == first ? first_ns : anchor == second ? second_ns : 100;
    }
    return made;
  };
  const auto choices = [&](double ours_first, double ours_second) {
    const std::vector<TorchVariant> tried{variant("matmul", ours_first, ours_second), variant("aten", 1000, 1000)};
    REQUIRE(tried[1].proposal.built.regions.size() == 4);
    return fastest_choices(tried.front(), tried);
  };
  // The library takes 1000 ns and the function behind it 100 ns.
  const auto mixed = choices(1050, 1500);
  REQUIRE(mixed.has_value());
  CHECK(mixed->choices.anchors.at(first).family == "matmul");
  CHECK(mixed->choices.anchors.at(second).family == "aten");
  CHECK(build_state(*mixed, plan_buffers(graph), HarnessOptions{}.facts).has_value());
  CHECK(!choices(1050, 1050).has_value());
  CHECK(!choices(1050, 1105).has_value()); // too little to be measured
  std::vector<TorchVariant> untimed{variant("matmul", 2000, 2000), variant("aten", 1000, 1000)};
  untimed[0].verdict.step_ns.clear();
  CHECK(!fastest_choices(untimed[0], untimed).has_value());
}
