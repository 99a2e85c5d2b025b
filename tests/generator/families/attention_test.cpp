// Attention on the CPU device computes what the reference evaluation of the graph computes, for each
// way to share rows and keys.
#include "generator/families/attention/attention.h"

#include "generator/planning/partition.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace warpwright;
using namespace warpwright::test;
using model::Dtype;
using model::Shape;

namespace {

constexpr double kTolerance = 2e-2; ///< of 16-bit weights

elements::Configuration tiles(int row_warps, int row_tiles, int key_warps, int keys, int stages,
                              int parts) {
  return {{"row_warps", row_warps}, {"row_tiles", row_tiles}, {"key_warps", key_warps},
          {"keys", keys},           {"stages", stages},       {"parts", parts}};
}

/// The best guess for a GPU compiles there.
void check_compiles(const ops::GraphIndex &index, const elements::Region &region,
                    const elements::Family &family) {
  for (const auto &[gpu, architecture] : {std::pair{"h200", "sm_90a"}, {"a100", "sm_80"}}) {
    const elements::DeviceFacts device{arch::gpu_named(gpu).value()};
    const auto lowering = family.lower(
        index, region, family.configurations(index, region, device).front(), device, "region");
    REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
    const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, architecture);
    CHECK_MESSAGE(errors.value_or("").empty(), *errors);
  }
}

/// Checks configurations of the region around the only attention. @return the values that it reads from memory
std::vector<std::string> check(const model::Graph &graph,
                               const std::vector<elements::Configuration> &configurations) {
  const ops::GraphIndex index(graph);
  const auto values = interpret(graph, draw_leaves(graph, 7));
  REQUIRE_MESSAGE(values, (values ? "" : describe(values.error())));
  std::vector<std::string> read;
  for (const planning::PlannedRegion &one : planning::partition(index, {})) {
    if (one.region.anchor.empty() || index.node(one.region.anchor).op != "attention")
      continue;
    REQUIRE(one.family);
    CHECK(one.family->name == "attention");
    read = one.region.inputs;
    CHECK(!one.family->configurations(index, one.region, cpu_facts()).front().empty());
    check_compiles(index, one.region, *one.family);
    for (const auto &configuration : configurations) {
      CAPTURE(describe(configuration));
      CHECK(check_region(index, one.region, *one.family, configuration, *values, kTolerance) == "");
    }
  }
  REQUIRE(!read.empty());
  return read;
}

std::string attention(GraphBuilder &g, std::vector<std::string> inputs, bool causal = false,
                      double softcap = 0) {
  model::Attributes attributes{{"causal", causal}, {"scale", 0.4}};
  if (softcap != 0)
    attributes.emplace("softcap", softcap);
  return g.op("attention", std::move(inputs), attributes);
}

/// Heads of keys as (batch, token, head, element) in memory, repeated for `times` heads of queries.
std::string repeated(GraphBuilder &g, const std::string &name, Shape shape, std::int64_t times,
                     Dtype dtype) {
  const std::string heads =
      g.op("permute", {g.input(name, shape, dtype)}, {{"dims", Shape{0, 2, 1, 3}}});
  const Shape one{shape[0], shape[2], 1, shape[1], shape[3]},
      many{shape[0], shape[2], times, shape[1], shape[3]};
  return g.reshape(g.shaped("expand", {g.reshape(heads, one)}, many),
                   {shape[0], shape[2] * times, shape[1], shape[3]});
}

} // namespace

TEST_CASE("rows and keys that fill no tile, with heads of other sizes than values") {
  for (const Dtype dtype : {Dtype::BFloat16, Dtype::Float16}) {
    CAPTURE(static_cast<int>(dtype));
    GraphBuilder g;
    const std::string y =
        attention(g, {g.input("q", {2, 2, 37, 24}, dtype), g.input("k", {2, 2, 75, 24}, dtype),
                      g.input("v", {2, 2, 75, 40}, dtype)});
    CHECK(check(g.graph({y}),
                {tiles(4, 1, 1, 32, 2, 1), tiles(2, 2, 2, 32, 3, 1), tiles(1, 1, 4, 64, 2, 2)})
              .size() == 3);
  }
}

TEST_CASE("heads that queries share are read once, and causal rows see the past of their query") {
  GraphBuilder g;
  const Dtype dtype = Dtype::BFloat16;
  const std::string q =
      g.op("permute", {g.input("q", {2, 35, 6, 16}, dtype)}, {{"dims", Shape{0, 2, 1, 3}}});
  const std::string y = attention(
      g,
      {q, repeated(g, "k", {2, 50, 2, 16}, 3, dtype), repeated(g, "v", {2, 50, 2, 16}, 3, dtype)},
      true);
  CHECK(check(g.graph({y}), {tiles(4, 1, 1, 16, 2, 1), tiles(2, 1, 2, 32, 2, 3)}) ==
        std::vector<std::string>{"q", "k", "v"});
}

TEST_CASE("masks are computed where a score needs them, in pairs of keys or alone") {
  for (const std::int64_t keys : {48, 49}) {
    CAPTURE(keys);
    GraphBuilder g;
    const Dtype dtype = Dtype::Float16;
    const std::string k = g.input("k", {3, 2, keys, 16}, dtype);
    // A boolean mask that hides keys at a distance of 20 and more; below, a bias that is added.
    const std::string near = g.op(
        "lt", {g.input("distance", {1, 1, 5, keys}, Dtype::Int32), g.constant(20, Dtype::Int32)});
    const std::string masked = attention(g, {g.input("q", {3, 2, 5, 16}, dtype), k, k, near});
    CHECK(check(g.graph({masked}), {tiles(1, 1, 4, 64, 2, 1)}).size() == 3);
    GraphBuilder h;
    const std::string other = h.input("k", {3, 2, keys, 16}, dtype);
    const std::string biased = attention(
        h, {h.input("q", {3, 2, 5, 16}, dtype), other, other, h.input("bias", {2, 5, keys}, dtype)},
        false, 3.5);
    check(h.graph({biased}), {tiles(1, 1, 2, 32, 2, 2)});
  }
}

TEST_CASE(
    "a cache and new tokens are read as they lie, and stored as one where the graph returns them") {
  for (const std::int64_t heads : {2, 6}) {
    CAPTURE(heads);
    GraphBuilder g;
    const Dtype dtype = Dtype::BFloat16;
    const auto grown = [&](const std::string &name) {
      const std::string news = g.op("permute", {g.input("new_" + name, {3, 1, 2, 16}, dtype)},
                                    {{"dims", Shape{0, 2, 1, 3}}});
      return g.op("cat", {g.input("old_" + name, {3, 2, 40, 16}, dtype), news},
                  {{"dim", std::int64_t{2}}});
    };
    const auto shared = [&](const std::string &value) {
      const Shape many{3, 2, heads / 2, 41, 16};
      return heads == 2 ? value
                        : g.reshape(g.shaped("expand", {g.reshape(value, {3, 2, 1, 41, 16})}, many),
                                    {3, heads, 41, 16});
    };
    const std::string k = grown("k"), v = grown("v");
    const std::string y =
        attention(g, {g.input("q", {3, heads, 1, 16}, dtype), shared(k), shared(v)});
    // The values are read from both parts as well, and stored only where they are a result.
    for (const std::vector<std::string> &outputs : {std::vector{y, k, v}, {y, k}, {y}}) {
      std::vector<std::string> read =
          check(g.graph(outputs), {tiles(1, 1, 4, 64, 2, 1), tiles(1, 1, 2, 32, 3, 2)});
      std::ranges::sort(read);
      CHECK(read == std::vector<std::string>{"new_k", "new_v", "old_k", "old_v", "q"});
    }
  }
}

TEST_CASE("what follows is computed where a row is stored") {
  GraphBuilder g;
  const Dtype dtype = Dtype::BFloat16;
  const std::string k = g.input("k", {4, 33, 32}, dtype);
  const std::string y = g.op("mul", {attention(g, {g.input("q", {4, 20, 32}, dtype), k, k}),
                                     g.input("gate", {4, 20, 32}, dtype)});
  check(g.graph({y}), {tiles(4, 1, 1, 32, 2, 1), tiles(2, 1, 2, 32, 2, 2)});
}

namespace {

/// An attention whose values nobody computes: the reference evaluation would take minutes.
/// @param heads of queries, two of which share keys
model::Graph long_attention(std::int64_t batch, std::int64_t heads, std::int64_t queries,
                            std::int64_t keys, std::int64_t depth, std::int64_t width, bool causal,
                            double softcap) {
  model::Graph graph;
  const auto add = [&](const std::string &name, const std::string &op,
                       std::vector<std::string> inputs, model::Attributes attributes, Shape shape) {
    graph.nodes.push_back({name, op, std::move(inputs), std::move(attributes),
                           {{Dtype::BFloat16, std::move(shape), {}}}});
    return name;
  };
  std::vector<std::string> operands{
      add("q", "input", {}, {{"torch_name", "q"}}, {batch, heads, queries, depth})};
  for (const auto &[name, size] : {std::pair{std::string("k"), depth}, {"v", width}}) {
    add(name, "input", {}, {{"torch_name", name}}, {batch, heads / 2, keys, size});
    add(name + "1", "reshape", {name}, {}, {batch, heads / 2, 1, keys, size});
    add(name + "2", "expand", {name + "1"}, {}, {batch, heads / 2, 2, keys, size});
    operands.push_back(add(name + "3", "reshape", {name + "2"}, {}, {batch, heads, keys, size}));
  }
  model::Attributes attributes{{"causal", causal}, {"scale", 0.4}};
  if (softcap != 0)
    attributes.emplace("softcap", softcap);
  add("y", "attention", operands, attributes, {batch, heads, queries, width});
  graph.outputs = {"y"};
  return graph;
}

} // namespace

TEST_CASE("long prompts multiply by wgmma where the device has it") {
  const elements::DeviceFacts hopper{arch::gpu_named("h200").value()},
      ampere{arch::gpu_named("a100").value()};
  for (const model::Graph &graph : {long_attention(2, 8, 1024, 1024, 128, 128, true, 0),
                                    long_attention(16, 8, 700, 533, 72, 40, false, 20),
                                    long_attention(16, 4, 500, 2048, 256, 256, false, 0)}) {
    const ops::GraphIndex index(graph);
    CAPTURE(index.node("q").type().shape.back());
    const auto regions = planning::partition(index, {});
    const auto found = std::ranges::find_if(
        regions, [](const planning::PlannedRegion &one) { return one.region.anchor == "y"; });
    REQUIRE(found != regions.end());
    const auto is_wgmma = [](const elements::Configuration &one) { return one.contains("groups"); };
    const auto on = [&](const elements::DeviceFacts &device) {
      return found->family->configurations(index, found->region, device);
    };
    CHECK(std::ranges::none_of(on(ampere), is_wgmma));
    int compiled = 0;
    for (const elements::Configuration &one : on(hopper)) {
      if (!is_wgmma(one) || ++compiled > 2)
        continue;
      CAPTURE(describe(one));
      const auto lowering = found->family->lower(index, found->region, one, hopper, "region");
      REQUIRE_MESSAGE(lowering, (lowering ? "" : describe(lowering.error())));
      const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
      CHECK_MESSAGE(errors.value_or("").empty(), *errors);
    }
    CHECK(compiled > 0);
  }
}
