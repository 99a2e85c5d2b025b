// States and moves of an op graph: where they begin, that every one of them has a plan, and that lists of them end.
#include "generator/ops/text.h"
#include "generator/search/plan_walk.h"
#include "generator/search/torch_search.h"
#include "tests/generator/devices.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_task.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::search;
using model::Shape;

namespace {

/// Two equal layers and a softmax; names carry the prefix.
model::Graph network(const std::string &prefix = "") {
  GraphBuilder g;
  std::string x = g.input(prefix + "x", {2, 4, 6, 6});
  for (const std::string layer : {"1", "2"}) {
    const std::string w = g.parameter(prefix + "w" + layer, {4, 4, 3, 3}),
                      b = g.parameter(prefix + "b" + layer, {4});
    x = g.op("relu", {g.op("conv", {x, w, b},
                           {{"stride", Shape{1, 1}},
                            {"padding", Shape{1, 1}},
                            {"dilation", Shape{1, 1}},
                            {"groups", std::int64_t{1}}})});
  }
  return g.graph({g.op("softmax", {x}, {{"dim", std::int64_t{1}}})});
}

PlanWalk walk_of(const model::Graph &graph) {
  auto walk = PlanWalk::begin(task_of(graph), graph, h200());
  REQUIRE_MESSAGE(walk, (walk ? "" : describe(walk.error())));
  return std::move(*walk);
}

bool offers(const PlanWalk &walk, const std::string &beginning) {
  return std::ranges::any_of(walk.legal(),
                             [&](const std::string &move) { return move.starts_with(beginning); });
}

std::string first_with(const PlanWalk &walk, const std::string &beginning) {
  for (const std::string &move : walk.legal())
    if (move.starts_with(beginning))
      return move;
  FAIL("no move begins with ", beginning);
  return {};
}

} // namespace

TEST_CASE("The first state calls the library for everything that it can") {
  const PlanWalk walk = walk_of(network());
  const auto &words = walk.built()->plan.moves;
  CHECK(std::ranges::count(words, "aten(conv)") == 2);
  CHECK(std::ranges::count(words, "aten(softmax)") == 1);
  CHECK(walk.moves().empty());
}

TEST_CASE("A start of the search is a move, to the search's own plan") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  const DeviceFacts no_tf32{arch::gpu_named("h200").value(), false};
  DescentPolicy policy(task, graph, no_tf32);
  auto walk = PlanWalk::begin(task, graph, no_tf32);
  REQUIRE(walk);
  REQUIRE(walk->make("begin(with=ours)"));
  CHECK(walk->built()->plan == policy.propose({})->built.plan);
  CHECK_FALSE(offers(*walk, "begin"));
}

TEST_CASE("Every list of legal moves ends, and each of its states has a plan") {
  const model::Graph graph = network();
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    PlanWalk walk = walk_of(graph);
    for (auto legal = walk.legal(); !legal.empty(); legal = walk.legal()) {
      REQUIRE(walk.make(legal[random() % legal.size()]));
      INFO(walk.moves().back());
      CHECK(walk.built());
      REQUIRE(walk.moves().size() < 40);
    }
  }
}

TEST_CASE("Regions that are alike change together") {
  PlanWalk walk = walk_of(network());
  REQUIRE(walk.make(first_with(walk, "family(region=0,name=direct)")));
  const auto &words = walk.built()->plan.moves;
  CHECK(std::ranges::count(words, "aten(conv)") == 0);
  CHECK(std::ranges::count_if(words, [](const std::string &text) {
          return text.starts_with("template(direct");
        }) == 2);
}

TEST_CASE("What was chosen of a region is not chosen again") {
  PlanWalk walk = walk_of(network());
  REQUIRE(walk.make("begin(with=ours)"));
  const std::string configured = first_with(walk, "configure(region=0");
  REQUIRE(walk.make(configured));
  CHECK_FALSE(offers(walk, "configure(region=0,"));
  CHECK_FALSE(offers(walk, "family(region=0,"));
  CHECK_FALSE(walk.make(configured));
}

TEST_CASE("Moves know no names of a module") {
  CHECK(walk_of(network()).legal() == walk_of(network("other_")).legal());
}

TEST_CASE("Moves of a region differ in their values, not in how many they have, and are short") {
  PlanWalk walk = walk_of(network());
  REQUIRE(walk.make("begin(with=ours)"));
  std::map<std::string, std::ptrdiff_t> commas;
  for (const std::string &move : walk.legal()) {
    const auto [known, is_new] =
        commas.emplace(move.substr(0, move.find(',')), std::ranges::count(move, ','));
    CHECK_MESSAGE(known->second == std::ranges::count(move, ','), move);
    CHECK_MESSAGE(known->second <= 8, move);
  }
}

TEST_CASE("The recipe of a state gives its plan to a search") {
  const model::Graph graph = network();
  const model::Task task = task_of(graph);
  PlanWalk walk = walk_of(graph);
  REQUIRE(walk.make("begin(with=ours)"));
  REQUIRE(walk.make(first_with(walk, "configure(region=0")));
  DescentPolicy policy(task, graph, h200(), walk.recipe());
  CHECK(policy.propose({})->built.plan.source == walk.built()->plan.source);
}

TEST_CASE("A move that is not legal is refused by its words") {
  PlanWalk walk = walk_of(network());
  const auto made = walk.make("family(region=77,name=rows)");
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("family(region=77,name=rows)") != std::string::npos);
  CHECK(walk.moves().empty());
}

TEST_CASE("The library is not offered what it has no operator for") {
  GraphBuilder g;
  const std::string x = g.input("x", {4, 6, 8}), w = g.parameter("w", {6}),
                    b = g.parameter("b", {6}), mean = g.parameter("mean", {6}),
                    var = g.parameter("var", {6});
  const std::string y = g.op("batch_norm", {x, w, b, mean, var},
                             {{"training", true}, {"eps", 1e-5}, {"momentum", 0.1}});
  const std::string new_mean = g.op("item", {y}, {{"index", std::int64_t{1}}});
  g.update("mean", new_mean);
  const model::Graph graph = g.graph({g.op("relu", {y})});
  model::Task task = task_of(graph);
  for (model::Buffer &buffer : task.buffers)
    if (buffer.name == "mean")
      buffer.direction = model::Direction::InOut;
  const auto walk = PlanWalk::begin(task, graph, h200());
  REQUIRE_MESSAGE(walk, (walk ? "" : describe(walk.error())));
  for (const std::string &move : walk->legal())
    CHECK_MESSAGE(move.find("name=aten") == std::string::npos, move);
}
