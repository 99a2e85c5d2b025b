// Products with diagonal and triangular operands, and their order.
#include "generator/ops/cost.h"
#include "tests/generator/rewrites/check_rewrite.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;

namespace {

using model::Shape;

std::string attribute_of(const model::Graph &graph, const std::string &op, const char *name) {
  for (const model::Node &node : graph.nodes)
    if (node.op == op && node.attributes.contains(name))
      return std::get<std::string>(node.attributes.at(name));
  return "";
}

std::string triangle(GraphBuilder &g, const char *op, const std::string &x,
                     std::int64_t diagonal = 0) {
  return g.op(op, {x}, {{"diagonal", diagonal}});
}

TEST_CASE("a product with a diagonal matrix is a multiplication") {
  GraphBuilder g;
  const auto d = g.op("diag_embed", {g.input("v", {5})});
  CHECK(ops_of(check_rewrites(g.graph({g.op("matmul", {d, g.input("b", {5, 7})})}),
                              {"matmul-diagonal"})) == "reshape mul");
  GraphBuilder h;
  auto e = h.op("diag_embed", {h.input("v", {3, 5})});
  e = h.op("permute", {e}, {{"dims", Shape{0, 2, 1}}});
  CHECK(ops_of(check_rewrites(h.graph({h.op("matmul", {h.input("a", {3, 4, 5}), e})}),
                              {"matmul-diagonal"})) == "reshape mul");
}

TEST_CASE("a product that is rounded to its operand's 16 bits is one of 16 bits") {
  const auto half = model::Dtype::BFloat16, single = model::Dtype::Float32;
  const auto product = [&](GraphBuilder &g, model::Dtype result) {
    const std::string weights =
        g.op("softmax", {g.input("x", {2, 4, 6})}, {{"dim", std::int64_t{2}}});
    const std::string values = g.cast(g.input("v", {2, 6, 8}, half), single);
    return g.graph({g.cast(g.op("matmul", {weights, values}), result)});
  };
  GraphBuilder rounded, kept;
  check_rewrites(product(rounded, half), {"product-narrow"});
  const model::Graph unrounded = product(kept, model::Dtype::Float64);
  for (const rewrites::Rewrite &rewrite : rewrites::rewrites(GraphIndex(unrounded)))
    CHECK(rewrite.rule != "product-narrow");
}

TEST_CASE("the product of a gated layer may become two") {
  const auto layer = [](GraphBuilder &g, std::int64_t start) {
    const std::string product = g.op("matmul", {g.input("x", {3, 4}), g.input("w", {4, 10})});
    const std::string gate = g.op("silu", {slice(g, product, 1, start, start + 5)});
    return g.graph({g.op("mul", {slice(g, product, 1, 0, 5), gate})});
  };
  GraphBuilder halves, overlapping;
  check_rewrites(layer(halves, 5), {"product-split"});
  const model::Graph other = layer(overlapping, 3);
  for (const rewrites::Rewrite &rewrite : rewrites::rewrites(GraphIndex(other)))
    CHECK(rewrite.rule != "product-split");
}

TEST_CASE("a diagonal beside the main one is left alone") {
  GraphBuilder g;
  const auto d = g.op("diag_embed", {g.input("v", {4})}, {{"offset", std::int64_t{1}}});
  check_left_alone(g.graph({g.op("matmul", {d, g.input("b", {5, 7})})}), "matmul-diagonal");
}

TEST_CASE("products of triangles say what is zero and what is needed") {
  GraphBuilder g;
  const auto a = triangle(g, "tril", g.input("a", {6, 6})),
             b = triangle(g, "tril", g.input("b", {6, 6}), -1);
  const auto y = triangle(g, "tril", g.op("matmul", {a, b}));
  const auto after = check_rewrites(g.graph({y}), {"matmul-triangle"});
  CHECK(attribute_of(after, "matmul", "fill") == "lower");
  CHECK(attribute_of(after, "matmul", "a_fill") == "lower");
  CHECK(attribute_of(after, "matmul", "b_fill") == "lower");
}

TEST_CASE("a transposed triangle is the other one, and a band is none") {
  GraphBuilder g;
  const auto a =
      g.op("permute", {triangle(g, "triu", g.input("a", {4, 4}), 1)}, {{"dims", Shape{1, 0}}});
  const auto b = triangle(g, "tril", g.input("b", {4, 4}), 1);
  const auto after = check_rewrites(g.graph({g.op("matmul", {a, b})}), {"matmul-triangle"});
  CHECK(attribute_of(after, "matmul", "a_fill") == "lower");
  CHECK(attribute_of(after, "matmul", "b_fill") == "");
  CHECK(attribute_of(after, "matmul", "fill") == "");
}

TEST_CASE("a product that is read whole says nothing of what is needed") {
  GraphBuilder g;
  const auto product = g.op("matmul", {g.input("a", {4, 4}), g.input("b", {4, 4})});
  const auto y = g.op("add", {triangle(g, "triu", product), product});
  CHECK(attribute_of(check_rewrites(g.graph({y}), {}), "matmul", "fill") == "");
  GraphBuilder h;
  const auto biased = h.op("add", {h.op("matmul", {h.input("a", {4, 4}), h.input("b", {4, 4})}),
                                   h.parameter("bias", {4})});
  CHECK(attribute_of(check_rewrites(h.graph({triangle(h, "triu", biased)}), {}), "matmul",
                     "fill") == "upper");
}

TEST_CASE("chains of products are ordered by operations") {
  GraphBuilder g;
  const auto product = g.op("matmul", {g.input("a", {16, 16}), g.input("b", {16, 16})});
  const auto graph = g.graph({g.op("matmul", {product, g.input("v", {16, 1})})});
  CHECK(4 * cost_of(check_rewrites(graph, {"matmul-order"})).flops < cost_of(graph).flops);
  GraphBuilder h;
  auto y = h.op("matmul", {h.input("x", {2, 40, 8}), h.parameter("a", {8, 30})});
  y = h.op("matmul", {h.op("add", {h.parameter("bias", {30}), y}), h.parameter("b", {30, 4})});
  const auto biased = h.graph({y});
  CHECK(2 * cost_of(check_rewrites(biased, {"matmul-order"})).flops < cost_of(biased).flops);
  GraphBuilder i;
  y = i.op("matmul", {i.input("a", {3, 20}),
                      i.op("matmul", {i.input("b", {20, 20}), i.input("c", {20, 20})})});
  check_rewrites(i.graph({y}), {"matmul-order"});
}

} // namespace
