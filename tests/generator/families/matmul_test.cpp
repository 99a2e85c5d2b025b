// Matrix products compute on the CPU device what the reference evaluation computes: random shapes, batches, layouts, dtypes, neighbors
// before and behind, and the configurations that need no tensor cores. Those that do are compiled here where NVRTC is, and run by
// bench/matmul on a GPU.
#include "generator/families/matmul/matmul.h"
#include "generator/families/matmul/matmul_problem.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::families::matmul;
using namespace warpwright::ops;

namespace {

using Random = std::mt19937_64;
std::int64_t pick(Random &random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}
bool even_odds(Random &random) { return pick(random, 0, 1) == 1; }

Region region_around(const model::Graph &graph) {
  Region region;
  for (const model::Node &node : graph.nodes) {
    (node.op == "input" || node.op == "parameter" ? region.inputs : region.nodes)
        .push_back(node.name);
    if (node.op == "matmul")
      region.anchor = node.name;
  }
  region.outputs = graph.outputs;
  return region;
}

/// At most `most` configurations, from a random one on.
void check(Random &random, const model::Graph &graph, double tolerance, std::size_t most = 2) {
  const GraphIndex index(graph);
  const Region region = region_around(graph);
  REQUIRE(kMatmulFamily.claims(index, index.node(region.anchor)));
  DeviceFacts device = cpu_facts();
  device.multiprocessors = 4;
  const auto values = interpret(graph, draw_leaves(graph, random()));
  REQUIRE_MESSAGE(values, (values ? "" : describe(values.error())));
  const auto configurations = kMatmulFamily.configurations(index, region, device);
  REQUIRE(!configurations.empty());
  const std::size_t first = random() % configurations.size();
  for (std::size_t i = 0; i < std::min(most, configurations.size()); ++i) {
    const Configuration &configuration = configurations[(first + i) % configurations.size()];
    const std::string wrong =
        check_region(index, region, kMatmulFamily, configuration, *values, tolerance);
    CHECK_MESSAGE(wrong.empty(), describe(configuration), ": ", wrong);
  }
}

/// A leaf that a permute turns into [batch..., rows, columns], or one that has this shape.
std::string operand(GraphBuilder &g, Random &random, const std::string &name, model::Shape shape,
                    model::Dtype dtype) {
  if (even_odds(random))
    return g.input(name, shape, dtype);
  const std::size_t rank = shape.size();
  model::Shape dims;
  for (std::size_t d = 0; d < rank; ++d)
    dims.push_back(static_cast<std::int64_t>(d));
  std::swap(dims[rank - 1], dims[rank - 2]);
  std::swap(shape[rank - 1], shape[rank - 2]);
  return g.op("permute", {g.input(name, shape, dtype)}, {{"dims", dims}});
}

std::int64_t extent(Random &random) {
  switch (pick(random, 0, 3)) {
  case 0:
    return pick(random, 1, 7);
  case 1:
    return 4 * pick(random, 1, 20);
  case 2:
    return pick(random, 1, 90);
  default:
    return pick(random, 60, 140);
  }
}

} // namespace

TEST_CASE("products of random shapes and layouts with bias, activation and residual") {
  Random random(5);
  for (int round = 0; round < 24; ++round) {
    GraphBuilder g;
    const auto dtype = round % 6 == 4   ? model::Dtype::Float16
                       : round % 6 == 5 ? model::Dtype::Float64
                                        : model::Dtype::Float32;
    const std::int64_t m = extent(random), n = extent(random), k = extent(random);
    std::string a = operand(g, random, "a", {m, k}, dtype);
    std::string b = operand(g, random, "b", {k, n}, dtype);
    if (even_odds(random))
      a = g.op("relu", {a});
    if (round % 3 == 1)
      b = g.op("mul", {b, g.input("scale", {n}, dtype)});
    std::string c = g.op("matmul", {a, b});
    if (even_odds(random))
      c = g.op("add", {c, g.input("bias", {n}, dtype)});
    if (even_odds(random))
      c = g.op("gelu", {c}, {{"approximate", std::string("tanh")}});
    if (even_odds(random))
      c = g.op("add", {c, g.input("residual", {m, n}, dtype)});
    CAPTURE(m);
    CAPTURE(n);
    CAPTURE(k);
    check(random, g.graph({c}),
          dtype == model::Dtype::Float64   ? 1e-10
          : dtype == model::Dtype::Float16 ? 4e-3
                                           : 3e-5);
  }
}

TEST_CASE("batches broadcast, and those of a left operand alone become rows") {
  Random random(6);
  const std::pair<model::Shape, model::Shape> batches[] = {
      {{3}, {3}},       {{2, 3}, {}},     {{}, {4}}, {{2, 1}, {3}},
      {{2, 3}, {1, 1}}, {{1, 3}, {2, 1}}, {{5}, {1}}};
  for (const auto &[left, right] : batches)
    for (int round = 0; round < 2; ++round) {
      GraphBuilder g;
      const std::int64_t m = extent(random), n = extent(random), k = extent(random);
      model::Shape a_shape = left, b_shape = right;
      a_shape.insert(a_shape.end(), {m, k});
      b_shape.insert(b_shape.end(), {k, n});
      const std::string c =
          g.op("matmul", {operand(g, random, "a", a_shape, model::Dtype::Float32),
                          operand(g, random, "b", b_shape, model::Dtype::Float32)});
      CAPTURE(left.size());
      CAPTURE(right.size());
      CAPTURE(m);
      CAPTURE(n);
      CAPTURE(k);
      check(random, g.graph({g.op("tanh", {c})}), 3e-5);
    }
}

TEST_CASE("heads of attention are read through reshape and permute") {
  Random random(7);
  GraphBuilder g;
  const auto heads = [&](const std::string &name) {
    const std::string x = g.input(name, {2, 20, 24});
    return g.op("permute", {g.reshape(x, {2, 20, 3, 8})}, {{"dims", model::Shape{0, 2, 1, 3}}});
  };
  const std::string q = heads("q");
  const std::string k = g.op("permute", {heads("k")}, {{"dims", model::Shape{0, 1, 3, 2}}});
  const model::Graph graph = g.graph({g.op("mul", {g.op("matmul", {q, k}), g.constant(0.35)})});
  const GraphIndex index(graph);
  const auto problem = matmul_problem(index, region_around(graph));
  REQUIRE(problem);
  CHECK(problem->batch == model::Shape{2, 3});
  REQUIRE(problem->a.plain);
  CHECK(problem->a.plain->rows == 24);
  CHECK(problem->a.plain->batches == model::Shape{480, 8});
  REQUIRE(problem->b.plain);
  CHECK(problem->b.along_k);
  check(random, graph, 3e-5, 4);
}

TEST_CASE("matrix times vector, and thin operands") {
  Random random(8);
  for (int round = 0; round < 12; ++round) {
    GraphBuilder g;
    const std::int64_t thin = pick(random, 1, 5), wide = pick(random, 30, 300),
                       k = round % 2 ? pick(random, 1, 999) : 4 * pick(random, 1, 200);
    const bool left = even_odds(random);
    const std::string a = operand(g, random, "a", {left ? wide : thin, k}, model::Dtype::Float32);
    const std::string b = operand(g, random, "b", {k, left ? thin : wide}, model::Dtype::Float32);
    CAPTURE(thin);
    CAPTURE(wide);
    CAPTURE(k);
    check(random, g.graph({g.op("sigmoid", {g.op("matmul", {a, b})})}), 3e-5);
  }
}

TEST_CASE("what triangular operands and results leave out is left out") {
  Random random(12);
  for (const auto &[a_fill, b_fill, fill] : {std::tuple{"lower", "lower", "lower"},
                                             {"upper", "upper", "upper"},
                                             {"lower", "upper", ""},
                                             {"upper", "lower", ""},
                                             {"", "", "lower"},
                                             {"", "", "upper"},
                                             {"upper", "", ""}}) {
    GraphBuilder g;
    const std::int64_t size = pick(random, 60, 200);
    model::Attributes promises;
    const auto triangle = [&](std::string x, const std::string &side, const std::string &name) {
      if (side.empty())
        return x;
      promises[name] = side;
      return g.op(side == "lower" ? "tril" : "triu", {x}, {{"diagonal", std::int64_t{0}}});
    };
    const std::string a =
        triangle(operand(g, random, "a", {size, size}, model::Dtype::Float32), a_fill, "a_fill");
    const std::string b =
        triangle(operand(g, random, "b", {size, size}, model::Dtype::Float32), b_fill, "b_fill");
    if (*fill)
      promises["fill"] = std::string(fill);
    std::string c = g.op("matmul", {a, b}, promises);
    if (*fill)
      c = g.op(*fill == 'l' ? "tril" : "triu", {c}, {{"diagonal", std::int64_t{0}}});
    CAPTURE(a_fill);
    CAPTURE(b_fill);
    CAPTURE(fill);
    CAPTURE(size);
    check(random, g.graph({c}), 3e-5, 3);
  }
}

TEST_CASE("integer products are exact") {
  Random random(9);
  GraphBuilder g;
  const std::string a = g.input("a", {33, 50}, model::Dtype::Int64);
  const std::string b = g.input("b", {50, 17}, model::Dtype::Int64);
  check(random, g.graph({g.op("matmul", {a, b})}), 0, 3);
}

namespace {

const Configuration kHalf{{"algorithm", 4}, {"group_m", 64}, {"tile_n", 64}, {"together", 1},
                          {"stages", 4},    {"swapped", 0},  {"splits", 1}};

/// A constant of the kernel's configuration: "kInnerA = 3".
std::int64_t constant(const std::string &source, const std::string &name) {
  const std::size_t at = source.find(name + " = ");
  REQUIRE(at != std::string::npos);
  return std::stoll(source.substr(at + name.size() + 3));
}

/// The element of an operand that the copy engine reads for a batch, a row and a step of k.
double mapped(const model::BufferArgument &argument, const std::string &source, bool is_a,
              const std::map<std::string, Array> &values, std::int64_t batch, std::int64_t row,
              std::int64_t k) {
  const std::string side = is_a ? "A" : "B";
  const std::int64_t inner = constant(source, "kInner" + side);
  const bool along_k = constant(source, "kAlong" + side) == 1;
  const std::int64_t places[] = {along_k ? k : row, along_k ? row : k,
                                 batch % inner * constant(source, "kInnerStep" + side),
                                 batch / inner * constant(source, "kOuterStep" + side)};
  const auto number = [](const symbolic::Expression &value) { return *value.evaluate({}); };
  std::int64_t at = number(argument.offset);
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(places[i] < number(argument.map->extents[i]));
    at += places[i] * (i == 0 ? 1 : number(argument.map->strides[i - 1]));
  }
  return values.at(argument.buffer).values.at(static_cast<std::size_t>(at));
}

} // namespace

TEST_CASE("tensor maps describe 16-bit operands as they lie in memory") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  Random random(11);
  int described = 0;
  for (int round = 0; round < 30; ++round) {
    GraphBuilder g;
    const std::int64_t m = 8 * pick(random, 1, 5), n = 8 * pick(random, 1, 5),
                       k = 8 * pick(random, 1, 5);
    const std::int64_t b = pick(random, 1, 3), h = pick(random, 1, 3);
    const auto head = [&](const std::string &name, std::int64_t rows, std::int64_t columns) {
      switch (pick(random, 0, 3)) {
      case 0: // [b, rows, h, columns], as of a projection
        return g.op("permute", {g.input(name, {b, rows, h, columns}, model::Dtype::BFloat16)},
                    {{"dims", model::Shape{0, 2, 1, 3}}});
      case 1: // every second row from the second on, the same for all batches
        return g.op("slice", {g.input(name, {2 * rows + 1, columns}, model::Dtype::BFloat16)},
                    {{"dim", std::int64_t{0}},
                     {"start", std::int64_t{1}},
                     {"end", 2 * rows + 1},
                     {"step", std::int64_t{2}}});
      default:
        return operand(g, random, name, {b, h, rows, columns}, model::Dtype::BFloat16);
      }
    };
    const std::string left = head("a", m, k), right = head("b", k, n);
    const model::Graph graph = g.graph({g.op("matmul", {left, right})});
    const GraphIndex index(graph);
    const Region region = region_around(graph);
    const auto lowering = kMatmulFamily.lower(index, region, kHalf, hopper, "region");
    if (!lowering) { // rows of all heads of a projection have no one stride
      CHECK(left.starts_with("permute"));
      CHECK(index.node(right).type().shape.size() == 2);
      continue;
    }
    const auto values = interpret(graph, draw_leaves(graph, random()));
    REQUIRE(values);
    std::vector<model::BufferArgument> maps;
    for (const model::Argument &one : std::get<model::LaunchStep>(lowering->steps.at(0)).arguments)
      if (const auto *buffer = std::get_if<model::BufferArgument>(&one); buffer && buffer->map)
        maps.push_back(*buffer);
    REQUIRE(maps.size() == 2);
    // The sum of products of mapped elements is the interpreter's result.
    const Array &result = values->at(graph.outputs[0]);
    const std::int64_t rows = constant(lowering->source, "kRows"),
                       columns = constant(lowering->source, "kColumns"),
                       batches = constant(lowering->source, "kBatches");
    REQUIRE(batches * rows * columns == std::ssize(result.values));
    for (int i = 0; i < 20; ++i) {
      const std::int64_t batch = pick(random, 0, batches - 1), row = pick(random, 0, rows - 1),
                         column = pick(random, 0, columns - 1);
      double sum = 0;
      for (std::int64_t at = 0; at < k; ++at)
        sum += mapped(maps[0], lowering->source, true, *values, batch, row, at) *
               mapped(maps[1], lowering->source, false, *values, batch, column, at);
      const double wanted =
          result.values[static_cast<std::size_t>((batch * rows + row) * columns + column)];
      CHECK(sum == doctest::Approx(wanted).epsilon(0.02).scale(1));
      ++described;
    }
  }
  CHECK(described > 400);
}

TEST_CASE("operands that no tensor map describes are refused with the reason") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  const auto why = [&](GraphBuilder &g, const std::string &a, const std::string &b) {
    const model::Graph graph = g.graph({g.op("matmul", {a, b})});
    const GraphIndex index(graph);
    const auto lowering = kMatmulFamily.lower(index, region_around(graph), kHalf, hopper, "region");
    return lowering ? std::string() : lowering.error().message;
  };
  GraphBuilder computed, odd;
  CHECK(why(computed, computed.op("relu", {computed.input("a", {8, 16}, model::Dtype::Float16)}),
            computed.input("b", {16, 8}, model::Dtype::Float16)) ==
        "an operand is computed, and the copy engine reads memory as it is");
  CHECK(why(odd, odd.input("a", {8, 15}, model::Dtype::Float16),
            odd.input("b", {15, 8}, model::Dtype::Float16)) ==
        "an operand's rows do not begin at multiples of 16 bytes");
}

TEST_CASE("products of 16-bit operands compile for Hopper") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  for (const bool turned : {false, true})
    for (const Configuration &change :
         {Configuration{}, Configuration{{"together", 0}, {"tile_n", 128}, {"splits", 2}},
          Configuration{{"swapped", 1}, {"group_m", 64}}}) {
      GraphBuilder g;
      const auto dtype = turned ? model::Dtype::BFloat16 : model::Dtype::Float16;
      const std::string a =
          g.input("a", turned ? model::Shape{200, 72} : model::Shape{72, 200}, dtype);
      const std::string b =
          g.input("b", turned ? model::Shape{136, 200} : model::Shape{200, 136}, dtype);
      const auto turn = [&](const std::string &value) {
        return turned ? g.op("permute", {value}, {{"dims", model::Shape{1, 0}}}) : value;
      };
      const model::Graph graph = g.graph(
          {g.op("add", {g.op("matmul", {turn(a), turn(b)}), g.input("bias", {136}, dtype)})});
      const GraphIndex index(graph);
      Configuration configuration = change;
      configuration.insert(kHalf.begin(), kHalf.end());
      const auto lowering =
          kMatmulFamily.lower(index, region_around(graph), configuration, hopper, "region");
      REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
      const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
      if (!errors) {
        MESSAGE("skipped: no NVRTC");
        return;
      }
      CHECK_MESSAGE(errors->empty(), *errors);
    }
}

TEST_CASE("products that are kept transposed are stored along the lines of their memory, and compile for Hopper") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  const Configuration packed{{"algorithm", 3}, {"tile_n", 128}, {"width", 128}, {"stages", 6}, {"promote", 2}, {"splits", 1}};
  for (const bool half : {true, false})
    for (const std::int64_t rows : {72, 70})
      for (const int swapped : {0, 1}) {
        GraphBuilder g;
        const auto dtype = half ? model::Dtype::BFloat16 : model::Dtype::Float32;
        const std::string product = g.op("matmul", {g.input("a", {rows, 200}, dtype), g.input("b", {200, 136}, dtype)});
        const std::string kept = g.op("permute", {product}, {{"dims", model::Shape{1, 0}}});
        const model::Graph graph = g.graph({g.op("add", {kept, g.input("weight", {136, rows}, dtype)})});
        const GraphIndex index(graph);
        Configuration configuration = half ? kHalf : packed;
        if (half)
          configuration["swapped"] = swapped;
        const auto lowering = kMatmulFamily.lower(index, region_around(graph), configuration, hopper, "region");
        REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
        // Vectors of four fill lines of 72 elements, not of 70.
        CHECK(lowering->source.contains("row_group = row / ") == (rows == 72));
        CHECK(constant(lowering->source, "kRows") == ((half ? swapped == 1 : rows == 72) ? 136 : rows));
        if (half)
          CHECK(constant(lowering->source, "kAcross") == (rows == 72 ? 1 - swapped : swapped));
        const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
        if (!errors) {
          MESSAGE("skipped: no NVRTC");
          return;
        }
        CHECK_MESSAGE(errors->empty(), *errors);
      }
}

TEST_CASE("few 16-bit vectors meet each row of a matrix once, on either side, by batches and with "
          "a gate") {
  Random random(13);
  const auto run = [&](GraphBuilder &g, const std::string &result, const Configuration &tiles) {
    const model::Graph graph = g.graph({result});
    const GraphIndex index(graph);
    Region region = region_around(graph);
    for (const model::Node &node : graph.nodes) // the first product anchors a gated layer
      if (node.op == "matmul") {
        region.anchor = node.name;
        break;
      }
    const auto values = interpret(graph, draw_leaves(graph, random()));
    REQUIRE(values);
    Configuration configuration{{"algorithm", 5}};
    configuration.insert(tiles.begin(), tiles.end());
    const DeviceFacts hopper{arch::gpu_named("h200").value()};
    const auto lowering = kMatmulFamily.lower(index, region, configuration, hopper, "region");
    REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
    CHECK(tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a").value_or("") == "");
    CHECK(check_region(index, region, kMatmulFamily, configuration, *values, 2e-2) == "");
  };
  const auto turned = [](GraphBuilder &g, const std::string &name, model::Shape shape,
                         model::Dtype dtype) {
    const model::Shape dims = shape.size() == 3 ? model::Shape{0, 2, 1} : model::Shape{1, 0};
    return g.op("permute", {g.input(name, std::move(shape), dtype)}, {{"dims", dims}});
  };
  const Configuration small{{"warps", 2}, {"unroll", 1}}, large{{"warps", 3}, {"unroll", 2}};
  for (const model::Dtype dtype : {model::Dtype::BFloat16, model::Dtype::Float16}) {
    GraphBuilder layer;
    const std::string x = layer.input("x", {2, 3, 136}, dtype);
    run(layer,
        layer.op("add", {layer.op("matmul", {x, turned(layer, "w", {52, 136}, dtype)}),
                         layer.input("bias", {52}, dtype)}),
        small);
    GraphBuilder left;
    run(left,
        left.op("matmul", {left.input("w", {37, 72}, dtype), turned(left, "x", {11, 72}, dtype)}),
        large);
    GraphBuilder batches;
    run(batches,
        batches.op("matmul", {batches.input("x", {3, 9, 200}, dtype),
                              turned(batches, "w", {3, 40, 200}, dtype)}),
        large);
  }
  GraphBuilder gated;
  const model::Dtype dtype = model::Dtype::BFloat16;
  const std::string x = gated.input("x", {5, 64}, dtype);
  const std::string gate = gated.op("matmul", {x, turned(gated, "gate", {44, 64}, dtype)}),
                    up = gated.op("matmul", {x, turned(gated, "up", {44, 64}, dtype)});
  run(gated, gated.op("mul", {gated.op("sigmoid", {gate}), up}), large);
}

TEST_CASE("tensor-core configurations compile for Hopper") {
  const DeviceFacts hopper{arch::gpu_named("h200").value()};
  Random random(10);
  for (int round = 0; round < 3; ++round) {
    GraphBuilder g;
    const std::int64_t m = round == 0 ? 6 : 8, n = round == 1 ? 9 : 8, k = round == 2 ? 7 : 12;
    std::string a = operand(g, random, "a", {2, m, k}, model::Dtype::Float32);
    if (round == 1)
      a = g.op("relu", {a});
    const std::string b = operand(g, random, "b", {k, n}, model::Dtype::Float32);
    const model::Graph graph =
        g.graph({g.op("add", {g.op("matmul", {a, b}), g.input("bias", {n})})});
    const GraphIndex index(graph);
    const Region region = region_around(graph);
    for (const Configuration &configuration : {Configuration{{"algorithm", 2},
                                                             {"tile_m", 64},
                                                             {"tile_n", 64},
                                                             {"tile_k", 32},
                                                             {"warp_m", 32},
                                                             {"warp_n", 32},
                                                             {"stages", 4},
                                                             {"cluster", 2},
                                                             {"splits", 1}},
                                               Configuration{{"algorithm", 3},
                                                             {"tile_n", 128},
                                                             {"width", 128},
                                                             {"stages", 6},
                                                             {"promote", 2},
                                                             {"splits", 1}}}) {
      const auto lowering = kMatmulFamily.lower(index, region, configuration, hopper, "region");
      REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
      const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
      if (!errors) {
        MESSAGE("skipped: no NVRTC");
        return;
      }
      CHECK_MESSAGE(errors->empty(), *errors);
    }
  }
}
