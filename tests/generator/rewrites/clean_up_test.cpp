// Identities, constants, chains of views, equal nodes, reductions over one element.
#include "generator/rewrites/graph_facts.h"
#include "tests/generator/rewrites/check_rewrite.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::rewrites;

namespace {

using model::Shape;

TEST_CASE("adding zero, multiplying by one and negating twice are gone") {
  GraphBuilder g;
  auto y = g.op("add", {g.input("x", {3, 4}), g.constant(0)});
  y = g.op("mul", {y, g.constant(1)});
  y = g.op("neg", {g.op("neg", {y})});
  y = g.op("exp", {y});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"identity"})) == "exp");
}

TEST_CASE("what broadcasts stays broadcast when its other operand goes") {
  GraphBuilder g;
  const auto zeros = g.shaped("expand", {g.constant(0)}, {2, 3});
  const auto y = g.op("add", {g.input("x", {3}), zeros});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"identity"})) == "expand");
}

TEST_CASE("an output that equals an input is a copy") {
  GraphBuilder g;
  const auto y = g.op("add", {g.input("x", {3}), g.constant(0)});
  const auto after = check_rewrites(g.graph({y}), {"identity"});
  CHECK(ops_of(after) == "reshape");
}

TEST_CASE("relu of what is never negative is gone, and of what may be is not") {
  GraphBuilder g;
  const auto x = g.input("x", {5});
  auto y = g.op("relu", {g.op("sigmoid", {x})});
  y = g.op("minimum", {g.op("maximum", {y, g.constant(0)}), g.constant(1)});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"identity"})) == "sigmoid");
  GraphBuilder other;
  check_left_alone(other.graph({other.op("relu", {other.op("tanh", {other.input("x", {5})})})}),
                   "identity");
}

TEST_CASE("numbers in a chain are drawn together") {
  GraphBuilder g;
  auto y = g.op("mul", {g.input("x", {4}), g.constant(3)});
  y = g.op("div", {y, g.constant(4)});
  y = g.op("mul", {g.constant(5), y});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"constant-chain"})) == "constant mul");
  GraphBuilder h;
  auto z = h.op("maximum", {h.input("x", {4}), h.constant(-1)});
  z = h.op("maximum", {z, h.constant(-0.5)});
  z = h.op("minimum", {h.op("minimum", {z, h.constant(2)}), h.constant(0.5)});
  CHECK(ops_of(check_rewrites(h.graph({z}), {"constant-chain"})) ==
        "constant maximum constant minimum");
}

TEST_CASE("known numbers are folded, parameters are not") {
  GraphBuilder g;
  const auto scale = g.op("sqrt", {g.op("add", {g.constant(3), g.constant(1)})});
  const auto y = g.op("mul", {g.input("x", {4}), scale});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"constant-fold"})) == "constant mul");
  GraphBuilder h;
  const auto p = h.parameter("p", {});
  check_left_alone(h.graph({h.op("mul", {h.input("x", {4}), h.op("sqrt", {h.op("square", {p})})})}),
                   "constant-fold");
}

TEST_CASE("views of views become one") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 3, 4});
  auto y = g.op("permute", {x}, {{"dims", Shape{2, 0, 1}}});
  y = g.op("permute", {y}, {{"dims", Shape{1, 2, 0}}});
  y = g.reshape(g.reshape(y, {6, 4}), {24});
  CHECK(ops_of(check_rewrites(g.graph({g.op("exp", {y})}), {"view-chain"})) == "reshape exp");
}

TEST_CASE("a slice looks into cat, pad and slice") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 6}), z = g.input("z", {2, 3});
  const auto slice = [&](const std::string &of, std::int64_t start, std::int64_t stop) {
    return g.op(
        "slice", {of},
        {{"dim", std::int64_t{1}}, {"start", start}, {"stop", stop}, {"step", std::int64_t{1}}});
  };
  const auto joined = g.op("cat", {x, z}, {{"dim", std::int64_t{1}}});
  const auto padded =
      g.op("pad", {x}, {{"low", Shape{1, 2}}, {"high", Shape{0, 1}}, {"value", 7.0}});
  const auto graph =
      g.graph({g.op("exp", {slice(joined, 6, 9)}), g.op("exp", {slice(padded, 3, 7)}),
               g.op("exp", {slice(slice(x, 1, 5), 1, 3)}), g.op("exp", {slice(padded, 1, 5)})});
  const auto after = check_rewrites(graph, {"view-chain"});
  CHECK(ops_of(after).find("cat") == std::string::npos);
}

TEST_CASE("casts that lose nothing merge, casts that round stay") {
  GraphBuilder g;
  auto y = g.cast(g.cast(g.input("x", {4}), model::Dtype::Float64), model::Dtype::Float32);
  CHECK(ops_of(check_rewrites(g.graph({g.op("exp", {y})}), {"view-chain"})) == "exp");
  GraphBuilder h;
  y = h.cast(h.cast(h.input("x", {4}), model::Dtype::Int32), model::Dtype::Float32);
  CHECK(ops_of(check_rewrites(h.graph({y}), {})) == "cast cast");
}

TEST_CASE("equal nodes are computed once, but results stay apart") {
  GraphBuilder g;
  const auto x = g.input("x", {3});
  const auto a = g.op("exp", {x}), b = g.op("exp", {x});
  CHECK(ops_of(check_rewrites(g.graph({g.op("add", {a, b})}), {"common-subexpression"})) ==
        "exp add");
  const auto both = check_rewrites(g.graph({a, b}), {});
  CHECK(both.outputs.front() != both.outputs.back());
}

TEST_CASE("reductions over one element are the element") {
  GraphBuilder g;
  auto y = g.op("logsumexp", {g.input("x", {4, 1, 3})}, {{"dims", Shape{1}}, {"keepdim", true}});
  y = g.op("mean", {y}, {{"dims", Shape{1}}, {"keepdim", true}});
  y = g.op("amax", {y}, {{"dims", Shape{1}}, {"keepdim", false}});
  CHECK(ops_of(check_rewrites(g.graph({g.op("exp", {y})}), {"single-element"})) == "reshape exp");
}

TEST_CASE("an output that no input decides is named with its number") {
  GraphBuilder g;
  const auto x = g.input("x", {4, 1});
  auto y = g.op("sub", {x, g.op("mean", {x}, {{"dims", Shape{1}}, {"keepdim", true}})});
  y = g.op("gelu", {y}, {{"approximate", "none"}});
  const auto graph = g.graph({y, g.op("exp", {x}), g.op("exp", {g.parameter("p", {2})})});
  check_rewrites(graph, {"single-element", "identity", "constant-fold"});
  const auto degenerate = degenerate_outputs(graph);
  REQUIRE(degenerate.size() == 2);
  CHECK(degenerate[0].output == y);
  CHECK(degenerate[0].constant == 0.0);
  CHECK_FALSE(degenerate[1].constant);
}

TEST_CASE("reductions of reductions become one") {
  for (const char *inner : {"sum", "mean"})
    for (const char *outer : {"sum", "mean"})
      for (const bool keepdim : {false, true}) {
        GraphBuilder g;
        auto y =
            g.op(inner, {g.input("x", {2, 3, 4, 5})}, {{"dims", Shape{2}}, {"keepdim", keepdim}});
        y = g.op(outer, {y}, {{"dims", Shape{0, keepdim ? 3 : 2}}, {"keepdim", false}});
        check_rewrites(g.graph({g.op("exp", {y})}), {"reduction-chain"});
      }
  GraphBuilder g;
  auto y = g.op("amax", {g.input("x", {2, 3, 4})}, {{"dims", Shape{2}}, {"keepdim", false}});
  y = g.op("amax", {g.reshape(y, {2, 1, 3})}, {{"dims", Shape{2}}, {"keepdim", true}});
  CHECK(ops_of(check_rewrites(g.graph({y}), {"reduction-chain"})) == "amax");
}

TEST_CASE("pools over everything are reductions, pools of pools one pool") {
  GraphBuilder g;
  const auto x = g.input("x", {2, 3, 8, 8});
  const auto pool = [&](const char *op, const std::string &of, Shape kernel) {
    return g.op(op, {of}, {{"kernel", kernel}, {"stride", kernel}, {"padding", Shape{0, 0}}});
  };
  CHECK(ops_of(check_rewrites(g.graph({pool("avg_pool", pool("avg_pool", x, {2, 1}), {2, 3})}),
                              {"pool-chain"})) == "avg_pool");
  check_rewrites(g.graph({pool("max_pool", pool("max_pool", x, {3, 2}), {2, 2})}), {"pool-chain"});
  CHECK(ops_of(check_rewrites(g.graph({pool("max_pool", x, {8, 8})}), {"pool-as-reduction"})) ==
        "amax");
  CHECK(ops_of(check_rewrites(g.graph({g.shaped("adaptive_avg_pool", {x}, {2, 3, 1, 1})}),
                              {"pool-as-reduction"})) == "mean");
  check_left_alone(g.graph({g.shaped("adaptive_avg_pool", {x}, {2, 3, 2, 1})}),
                   "pool-as-reduction");
}

} // namespace
