// Pointwise regions: ops, views and dtypes against the interpreter, by hand and at random.
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "tests/generator/devices.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/plan_harness.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::ops;
using namespace warpwright::planning;
using model::Dtype;
using model::Shape;

namespace {

/// Pointwise operators with this many operands, defined everywhere.
std::vector<std::string> operators(std::size_t operands, bool truth) {
  std::vector<std::string> names;
  for (const Op *op : all_ops())
    if (op->kind == Kind::Pointwise && op->most_operands == operands &&
        (op->compares || op->logical) == truth && op->name != op::cast && !op->integral &&
        std::isinf(op->domain.low) && std::isinf(op->domain.high))
      names.emplace_back(op->name);
  return names;
}
/// A random graph of pointwise ops and views over one shape and what views make of it.
class RandomGraph {
public:
  explicit RandomGraph(std::uint64_t seed, Dtype dtype) : random_(seed), dtype_(dtype) {}

  model::Graph make() {
    const int rank = pick(1, 4);
    Shape shape;
    for (int d = 0; d < rank; ++d)
      shape.push_back(pick(0, 3) == 0 ? 1 : pick(2, 9));
    values_.push_back(g_.input("x", shape, dtype_));
    values_.push_back(g_.input("y", broadcastable(shape), dtype_));
    const int steps = pick(2, 7);
    for (int i = 0; i < steps; ++i)
      values_.push_back(step());
    std::vector<std::string> outputs{values_.back()};
    if (pick(0, 2) == 0 && values_.size() > 4)
      outputs.push_back(values_[values_.size() - 2]);
    return g_.graph(outputs);
  }

private:
  const std::vector<std::string> unary_ = operators(1, false), binary_ = operators(2, false),
                                 truth_ = operators(2, true);
  const std::string &one_of(const std::vector<std::string> &names) {
    return names[static_cast<std::size_t>(pick(0, static_cast<int>(names.size()) - 1))];
  }
  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  const Shape &shape(const std::string &value) { return g_.type(value).shape; }

  Shape broadcastable(Shape shape) {
    for (std::int64_t &size : shape)
      if (pick(0, 2) == 0)
        size = 1;
    if (pick(0, 2) == 0)
      shape.erase(shape.begin());
    return shape;
  }

  std::string partner(const std::string &value) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const std::string other =
          values_[static_cast<std::size_t>(pick(0, static_cast<int>(values_.size()) - 1))];
      if (shape(other) == shape(value))
        return other;
    }
    return g_.constant(pick(-3, 3) + 0.5, dtype_);
  }

  std::string step() {
    const std::string x = values_[static_cast<std::size_t>(
        std::max(0, static_cast<int>(values_.size()) - pick(1, 2)))];
    const int rank = static_cast<int>(shape(x).size());
    switch (pick(0, rank > 0 ? 11 : 2)) {
    case 0:
    case 1:
    case 2:
      return g_.op(one_of(unary_), {x});
    case 3:
    case 4:
      return g_.op(one_of(binary_), {x, partner(x)});
    case 5:
      return g_.op("where", {g_.op(one_of(truth_), {x, g_.constant(0.1, dtype_)}), x, partner(x)});
    case 6: {
      Shape dims(rank);
      for (int d = 0; d < rank; ++d)
        dims[d] = d;
      std::shuffle(dims.begin(), dims.end(), random_);
      return g_.op("permute", {x}, {{"dims", dims}});
    }
    case 7: {
      Shape flat{1};
      for (const std::int64_t size : shape(x))
        flat.back() *= size;
      for (const int factor : {2, 3, 4})
        if (flat.back() % factor == 0 && pick(0, 1)) {
          flat.back() /= factor;
          flat.insert(flat.begin(), factor);
        }
      return g_.reshape(x, flat);
    }
    case 8: {
      const std::int64_t dim = pick(0, rank - 1), size = shape(x)[dim];
      const std::int64_t start = pick(0, static_cast<int>(size) - 1);
      return g_.op(
          "slice", {x},
          {{"dim", dim}, {"start", start}, {"stop", size}, {"step", std::int64_t{pick(1, 2)}}});
    }
    case 9:
      return g_.op("flip", {x}, {{"dims", Shape{pick(0, rank - 1)}}});
    case 10: {
      Shape low(rank, 0), high(rank, 0);
      low[pick(0, rank - 1)] = pick(0, 2);
      high[pick(0, rank - 1)] = pick(0, 2);
      return g_.op("pad", {x}, {{"low", low}, {"high", high}, {"value", 0.5}});
    }
    default:
      return g_.op("cat", {x, x}, {{"dim", std::int64_t{pick(0, rank - 1)}}});
    }
  }

  std::mt19937_64 random_;
  Dtype dtype_;
  GraphBuilder g_;
  std::vector<std::string> values_;
};

void check(const model::Graph &graph, double tolerance = 0) {
  HarnessOptions options;
  options.tolerance = tolerance;
  CHECK(check_graph(graph, options) == "");
}

} // namespace

TEST_CASE("Random pointwise graphs and views come out as the interpreter says") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    HarnessOptions options;
    options.seed = seed;
    options.tolerance = 1e-4; // chains of exponentials
    options.compile_for_gpu = seed % 8 == 0;
    CHECK(check_graph(RandomGraph(seed, Dtype::Float32).make(), options) == "");
  }
}

TEST_CASE("Random graphs come out in half precision and in double") {
  for (std::uint64_t seed = 101; seed <= 112; ++seed) {
    CAPTURE(seed);
    for (const Dtype dtype : {Dtype::Float16, Dtype::BFloat16, Dtype::Float64}) {
      HarnessOptions options;
      options.seed = seed;
      options.tolerance = dtype == Dtype::Float64 ? 1e-9 : dtype == Dtype::Float16 ? 1e-2 : 8e-2;
      options.compile_for_gpu = seed % 6 == 0;
      CHECK(check_graph(RandomGraph(seed, dtype).make(), options) == "");
    }
  }
}

TEST_CASE("Integers keep PyTorch's wrapping, remainders and comparisons") {
  GraphBuilder g;
  const std::string a = g.input("a", {4, 6}, Dtype::Int64), b = g.input("b", {6}, Dtype::Int64);
  const std::string sum = g.op("add", {a, g.op("mul", {b, b})});
  const std::string small = g.cast(g.op("mul", {sum, g.constant(77, Dtype::Int64)}), Dtype::Int8);
  const std::string test = g.op("ge", {sum, g.constant(5, Dtype::Int64)});
  check(g.graph({sum, small, test}));
}

TEST_CASE("A transpose goes through tiles and carries what is fused with it") {
  GraphBuilder g;
  const std::string x = g.input("x", {3, 40, 37}), bias = g.input("bias", {40});
  const std::string turned = g.op("permute", {x}, {{"dims", Shape{0, 2, 1}}});
  check(g.graph({g.op("relu", {g.op("add", {turned, bias})})}));
}

TEST_CASE("Tiles hold what is computed in the order of an operand") {
  GraphBuilder g;
  const std::string sum = g.op("add", {g.input("x", {2, 40, 50, 24}), g.input("bias", {24})});
  const std::string turned = g.op("permute", {g.op("tanh", {sum})}, {{"dims", Shape{0, 3, 1, 2}}});
  const model::Graph graph = g.graph({g.op("mul", {turned, g.input("y", {2, 24, 40, 50})})});
  const auto built = build_plan(graph, plan_buffers(graph), h200(), {});
  REQUIRE(built);
  CHECK(built->regions.at(0).configuration.contains("transpose"));
  check(graph);
}

TEST_CASE("A turned value that is read at other places too comes out right") {
  GraphBuilder g;
  const std::string x = g.input("x", {40, 40});
  const std::string turned = g.op("permute", {x}, {{"dims", Shape{1, 0}}});
  const std::string flipped = g.op("flip", {turned}, {{"dims", Shape{1}}});
  check(g.graph({g.op("add", {turned, flipped})}));
}

TEST_CASE("Results that are computed from neighbors across memory go through tiles of their own") {
  GraphBuilder g;
  const std::string x = g.input("x", {3, 50, 40}), y = g.input("y", {3, 50, 40});
  const auto turned = [&](const std::string &value) { return g.op("permute", {value}, {{"dims", Shape{0, 2, 1}}}); };
  const std::string level = turned(g.op("tanh", {x})),
                    padded = g.op("pad", {level}, {{"low", Shape{0, 0, 1}}, {"high", Shape{0, 0, 1}}, {"value", 0.25}});
  const auto shifted = [&](std::int64_t by) {
    return g.op("slice", {padded}, {{"dim", std::int64_t{2}}, {"start", by}, {"end", by + 50}, {"step", std::int64_t{1}}});
  };
  const std::string slope = g.op("sub", {shifted(2), shifted(0)});
  const auto tiles = [&](const std::vector<std::string> &outputs) {
    const model::Graph graph = g.graph(outputs);
    check(graph);
    const auto built = build_plan(graph, plan_buffers(graph), h200(), {});
    REQUIRE(built);
    CHECK(built->regions.size() == 1);
    std::size_t count = 0;
    for (std::size_t at = 0; (at = built->plan.source.find("__shared__", at)) != std::string::npos; ++at)
      ++count;
    return count;
  };
  CHECK(tiles({g.reshape(g.op("cat", {level, slope}, {{"dim", std::int64_t{0}}}), {2, 3, 40, 50})}) == 1);
  CHECK(tiles({level, slope}) == 2);
  const std::string straight = g.input("z", {3, 40, 50});
  CHECK(tiles({g.op("add", {g.op("mul", {slope, straight}), turned(y)})}) == 2);
}

TEST_CASE("Tiles join dimensions that both memories have next to each other") {
  GraphBuilder g;
  const std::string x = g.input("x", {2, 9, 5, 7});
  const std::string last = g.op("permute", {x}, {{"dims", Shape{0, 2, 3, 1}}});
  const model::Graph graph = g.graph({g.op("exp", {last})});
  const auto built = build_plan(graph, plan_buffers(graph), h200(), {});
  REQUIRE(built);
  CHECK(built->regions.at(0).configuration.contains("transpose"));
  CHECK(built->plan.source.find("/ 5 % 7") == std::string::npos);
  check(graph);
}

TEST_CASE("Gathers, embeddings and masks read where the index says") {
  GraphBuilder g;
  const std::string table = g.input("table", {10, 8}), ids = g.input("ids", {3, 5}, Dtype::Int64);
  const std::string rows = g.op("embedding", {table, ids});
  const std::string square = g.input("square", {2, 9, 9});
  check(g.graph({g.op("tanh", {rows}), g.op("tril", {square}, {{"diagonal", std::int64_t{1}}}),
                 g.op("triu", {g.op("exp", {square})}, {{"diagonal", std::int64_t{0}}})}));
}

TEST_CASE("Tables of indices are sums where they run on evenly, and in no thread's own memory") {
  std::mt19937_64 random(3);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  const auto selected = [](const std::vector<std::int64_t> &index, std::int64_t extent) {
    GraphBuilder g;
    std::string values;
    for (const std::int64_t place : index)
      values += (values.empty() ? "[" : ", ") + std::to_string(place);
    const std::string table = g.shaped("constant", {}, {static_cast<std::int64_t>(index.size())},
                                       {{"values", values + "]"}}, Dtype::Int64);
    const std::string x = g.input("x", {3, extent, 5});
    return g.graph({g.op("exp", {g.op("index_select", {x, table}, {{"dim", std::int64_t{1}}})})});
  };
  const auto source_of = [](const model::Graph &graph) {
    const auto built = build_plan(graph, plan_buffers(graph), h200(), {});
    REQUIRE(built);
    return built->plan.source;
  };
  const std::int64_t n = 12;
  const auto padded = [&](auto place) {
    std::vector<std::int64_t> index;
    for (std::int64_t i = -3; i < n + 4; ++i)
      index.push_back(place(i));
    return index;
  };
  std::vector<std::vector<std::int64_t>> even = {
      padded([&](std::int64_t i) { return std::clamp<std::int64_t>(i, 0, n - 1); }),
      padded([&](std::int64_t i) { return (i + n) % n; }),
      padded([&](std::int64_t i) { return i < 0    ? -i
                                          : i >= n ? 2 * (n - 1) - i
                                                   : i; }),
      {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7},
      {0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5},
      {11, 8, 5, 2},
      {4},
      {0, 0},
      {5, 5, 6, 7}};
  for (int i = 0; i < 12; ++i) { // pieces at random
    std::vector<std::int64_t> index;
    for (int piece = 0; piece < 4; ++piece)
      for (int from = pick(0, 11), slope = pick(-2, 2), left = pick(1, 6); left > 0; --left) {
        index.push_back(std::clamp(from, 0, 11));
        from += slope;
      }
    even.push_back(std::move(index));
  }
  for (std::size_t i = 0; i < even.size(); ++i) {
    CAPTURE(i);
    const model::Graph graph = selected(even[i], n);
    check(graph);
    if (i < 9)
      CHECK_FALSE(source_of(graph).contains("constexpr long long"));
  }
  std::vector<std::int64_t> uneven(40);
  for (std::int64_t &place : uneven)
    place = pick(0, 11);
  check(selected(uneven, n));
  CHECK(source_of(selected(uneven, n)).contains("static constexpr long long"));
}

TEST_CASE("A value that is both result and operand is written once and read back") {
  GraphBuilder g;
  const std::string x = g.input("x", {16, 20});
  const std::string a = g.op("gelu", {x}), b = g.op("mul", {a, g.op("sigmoid", {a})});
  check(g.graph({a, b}));
}

TEST_CASE("Results that are inputs, views of inputs or named twice are copied") {
  GraphBuilder g;
  const std::string x = g.input("x", {6, 4});
  const std::string turned = g.op("permute", {x}, {{"dims", Shape{1, 0}}});
  const std::string y = g.op("neg", {x});
  check(g.graph({x, turned, y, y}));
}

namespace {

std::string source_of(const model::Graph &graph) {
  const auto built = build_plan(graph, plan_buffers(graph), h200(), {});
  REQUIRE(built);
  return built->plan.source;
}

bool has_only_vectors(const std::string &source) {
  return source.contains("warpwright_vector<") && !source.contains("= in0[");
}

} // namespace

TEST_CASE("Vectors serve sizes that they do not divide, and the rest is taken singly") {
  for (const Shape &shape : {Shape{263167}, Shape{513, 521}, Shape{37, 7301}}) {
    CAPTURE(shape.size());
    GraphBuilder g;
    const std::string x = g.input("x", shape), bias = g.input("bias", {shape.back()});
    const model::Graph graph = g.graph({g.op("tanh", {g.op("add", {g.op("exp", {x}), bias})})});
    CHECK(source_of(graph).contains("warpwright_vector<float, 4>"));
    check(graph, 1e-6);
  }
}

TEST_CASE("Elements that lie a few apart come from whole vectors, each loaded once") {
  for (const std::int64_t step : {2, 3, 4}) {
    CAPTURE(step);
    GraphBuilder g;
    const std::string x = g.input("x", {4100, 64 * step}, Dtype::Float16);
    std::vector<std::string> parts;
    for (std::int64_t start = 0; start < step; ++start)
      parts.push_back(
          g.op("slice", {x},
               {{"dim", std::int64_t{1}}, {"start", start}, {"stop", 64 * step}, {"step", step}}));
    std::string value = parts[0];
    for (std::int64_t i = 1; i < step; ++i)
      value = g.op("mul", {g.op("sigmoid", {value}), parts[i]});
    const model::Graph graph = g.graph({value});
    CHECK(has_only_vectors(source_of(graph)));
    check(graph, 1e-3);
  }
}

TEST_CASE("A border that vectors end at is one condition for all their lanes") {
  GraphBuilder g;
  const std::string x = g.input("x", {2800, 96});
  const auto part = [&](std::int64_t start, std::int64_t length) {
    return g.op("slice", {x},
                {{"dim", std::int64_t{1}},
                 {"start", start},
                 {"stop", start + length},
                 {"step", std::int64_t{1}}});
  };
  const std::string turned =
      g.op("cat", {g.op("neg", {part(24, 24)}), part(0, 24), g.op("exp", {part(48, 48)})},
           {{"dim", std::int64_t{1}}});
  const model::Graph graph = g.graph({g.op("add", {turned, x})});
  CHECK(has_only_vectors(source_of(graph)));
  check(graph, 1e-6);
}

TEST_CASE("Parts of one value in another order are chosen by their index, and computed once") {
  for (const std::int64_t cut : {1, 61, 64}) {
    CAPTURE(cut);
    GraphBuilder g;
    const std::string y = g.op("exp", {g.input("x", {410, 96})});
    const auto part = [&](std::int64_t start, std::int64_t stop) {
      return g.op(
          "slice", {y},
          {{"dim", std::int64_t{1}}, {"start", start}, {"stop", stop}, {"step", std::int64_t{1}}});
    };
    const model::Graph graph =
        g.graph({g.op("cat", {part(cut, 96), part(0, cut)}, {{"dim", std::int64_t{1}}})});
    const std::string source = source_of(graph);
    const std::string kernel = source.substr(source.find("_body(const int block"));
    const auto count = [&](const std::string &text) {
      int found = 0;
      for (std::size_t at = kernel.find(text); at != std::string::npos;
           at = kernel.find(text, at + 1))
        ++found;
      return found;
    };
    if (cut % 4 != 0) {
      CHECK(kernel.contains(" ? "));
      CHECK(count("expf(") == count("out0["));
    } else { // at the border of a vector, a branch keeps vectors
      CHECK(kernel.contains("warpwright_vector<float, 4>"));
    }
    check(graph, 1e-6);
  }
}
