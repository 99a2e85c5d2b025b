// Recurrent layers compute on the CPU device what their definition says, for every cell, direction and layout of the batch. What blocks of
// one layer pass to each other while they run is left to GPU runs: the CPU device runs blocks in turn.
#include "generator/families/recurrent/recurrent_shape.h"
#include "generator/families/recurrent/recurrent.h"
#include "generator/planning/plan_builder.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/families/region_run.h"
#include "tests/generator/graph_builder.h"
#include "tests/generator/devices.h"

#include <doctest/doctest.h>

#include <random>

using namespace warpwright;
using namespace warpwright::test;
using namespace warpwright::elements;
using namespace warpwright::families::recurrent;
using namespace warpwright::ops;
using namespace warpwright::planning;

namespace {

struct Layers {
  std::string target = "aten::lstm.input";
  std::int64_t layers = 1, directions = 1, steps = 3, batch = 2, features = 5, units = 8;
  bool biases = true, batch_first = false;

  bool lstm() const { return target == "aten::lstm.input"; }
  bool gru() const { return target == "aten::gru.input"; }
  std::int64_t gates() const { return lstm() ? 4 : gru() ? 3 : 1; }
};

std::string json_list(std::size_t first, std::size_t count) {
  std::string text;
  for (std::size_t i = first; i < first + count; ++i)
    text += (i == first ? "" : ", ") + std::to_string(i);
  return "{\"tensors\": [" + text + "]}";
}

/// The layer as the tracer records it: `rnn`, its last states `item_1` and `item_2`.
model::Graph graph_of(const Layers &l, double dropout = 0, bool training = true) {
  GraphBuilder g;
  const std::int64_t lines = l.layers * l.directions;
  const model::Shape state{lines, l.batch, l.units};
  std::vector<std::string> inputs{g.input("x", l.batch_first
                                                   ? model::Shape{l.batch, l.steps, l.features}
                                                   : model::Shape{l.steps, l.batch, l.features}),
                                  g.input("h0", state)};
  if (l.lstm())
    inputs.push_back(g.input("c0", state));
  const std::size_t first = inputs.size();
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::string n = std::to_string(line);
    const std::int64_t rows = l.gates() * l.units,
                       width = line < l.directions ? l.features : l.directions * l.units;
    inputs.push_back(g.parameter("w_ih" + n, {rows, width}));
    inputs.push_back(g.parameter("w_hh" + n, {rows, l.units}));
    if (!l.biases)
      continue;
    inputs.push_back(g.parameter("b_ih" + n, {rows}));
    inputs.push_back(g.parameter("b_hh" + n, {rows}));
  }
  const auto flag = [](bool value) { return value ? std::string("true") : std::string("false"); };
  const std::string arguments =
      "[{\"tensor\": 0}, " + (l.lstm() ? json_list(1, 2) : std::string("{\"tensor\": 1}")) + ", " +
      json_list(first, inputs.size() - first) + ", " + flag(l.biases) + ", " +
      std::to_string(l.layers) + ", " + std::to_string(dropout) + ", " + flag(training) + ", " +
      flag(l.directions == 2) + ", " + flag(l.batch_first) + "]";
  const model::Shape out = l.batch_first ? model::Shape{l.batch, l.steps, l.directions * l.units}
                                         : model::Shape{l.steps, l.batch, l.directions * l.units};
  std::vector<model::TensorType> types{{model::Dtype::Float32, out, {}},
                                       {model::Dtype::Float32, state, {}}};
  if (l.lstm())
    types.push_back({model::Dtype::Float32, state, {}});
  g.node({"rnn",
          "aten",
          inputs,
          {{"target", l.target}, {"arguments", arguments}, {"keywords", std::string("{}")}},
          types});
  std::vector<std::string> outputs{"rnn"};
  for (std::int64_t item = 1; item < std::ssize(types); ++item) {
    const std::string name = "item_" + std::to_string(item);
    g.node({name, "item", {"rnn"}, {{"index", item}}, {types[static_cast<std::size_t>(item)]}});
    outputs.push_back(name);
  }
  return g.graph(outputs);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// By the definition in PyTorch's documentation of LSTM, GRU and RNN.
void compute(const Layers &l, Arrays &values) {
  const std::int64_t lines = l.layers * l.directions;
  Array last({}, {lines, l.batch, l.units}), last_memory = last;
  last.dtype = last_memory.dtype = model::Dtype::Float32;
  const auto at = [&](std::int64_t t, std::int64_t b, std::int64_t k) {
    return l.batch_first ? model::Shape{b, t, k} : model::Shape{t, b, k};
  };
  Array below = values.at("x");
  for (std::int64_t layer = 0; layer < l.layers; ++layer) {
    const std::int64_t width = layer == 0 ? l.features : l.directions * l.units;
    Array out(model::Dtype::Float32, at(l.steps, l.batch, l.directions * l.units));
    for (std::int64_t direction = 0; direction < l.directions; ++direction) {
      const std::int64_t line = layer * l.directions + direction;
      const std::string n = std::to_string(line);
      const Array &w_ih = values.at("w_ih" + n), &w_hh = values.at("w_hh" + n);
      for (std::int64_t b = 0; b < l.batch; ++b) {
        std::vector<double> h, c;
        for (std::int64_t u = 0; u < l.units; ++u) {
          h.push_back(values.at("h0").at({line, b, u}));
          c.push_back(l.lstm() ? values.at("c0").at({line, b, u}) : 0);
        }
        for (std::int64_t step = 0; step < l.steps; ++step) {
          const std::int64_t t = direction == 0 ? step : l.steps - 1 - step;
          const auto part = [&](std::int64_t gate, std::int64_t u, bool of_input) {
            const std::int64_t row = gate * l.units + u;
            double sum = l.biases ? values.at((of_input ? "b_ih" : "b_hh") + n).at({row}) : 0;
            for (std::int64_t k = 0; k < (of_input ? width : l.units); ++k)
              sum += of_input ? w_ih.at({row, k}) * below.at(at(t, b, k))
                              : w_hh.at({row, k}) * h[static_cast<std::size_t>(k)];
            return sum;
          };
          std::vector<double> next = h;
          for (std::int64_t u = 0; u < l.units; ++u) {
            const auto gate = [&](std::int64_t g) { return part(g, u, true) + part(g, u, false); };
            const auto i = static_cast<std::size_t>(u);
            if (l.lstm()) {
              c[i] = sigmoid(gate(1)) * c[i] + sigmoid(gate(0)) * std::tanh(gate(2));
              next[i] = sigmoid(gate(3)) * std::tanh(c[i]);
            } else if (l.gru()) {
              const double fresh =
                  std::tanh(part(2, u, true) + sigmoid(gate(0)) * part(2, u, false));
              next[i] = (1 - sigmoid(gate(1))) * fresh + sigmoid(gate(1)) * h[i];
            } else {
              next[i] =
                  l.target == "aten::rnn_relu.input" ? std::max(gate(0), 0.0) : std::tanh(gate(0));
            }
          }
          h = next;
          for (std::int64_t u = 0; u < l.units; ++u)
            out.at(at(t, b, direction * l.units + u)) = h[static_cast<std::size_t>(u)];
        }
        for (std::int64_t u = 0; u < l.units; ++u) {
          last.at({line, b, u}) = h[static_cast<std::size_t>(u)];
          last_memory.at({line, b, u}) = c[static_cast<std::size_t>(u)];
        }
      }
    }
    below = out;
  }
  values["rnn"] = below;
  values["item_1"] = last;
  values["item_2"] = last_memory;
}

Region region_of(const model::Graph &graph) {
  Region region;
  region.anchor = "rnn";
  for (const model::Node &node : graph.nodes)
    (node.op == "input" || node.op == "parameter" ? region.inputs : region.nodes)
        .push_back(node.name);
  region.outputs = graph.outputs;
  return region;
}

void check(const Layers &l, std::uint64_t seed) {
  const model::Graph graph = graph_of(l);
  const GraphIndex index(graph);
  REQUIRE(kRecurrentFamily.claims(index, index.node("rnn")));
  Arrays values = draw_leaves(graph, seed);
  for (auto &[name, array] : values)
    if (name.starts_with("w_"))
      for (double &value : array.values)
        value = static_cast<float>(value * 0.3);
  compute(l, values);
  const Region region = region_of(graph);
  const auto configurations = kRecurrentFamily.configurations(index, region, cpu_facts());
  REQUIRE(!configurations.empty());
  for (const Configuration &configuration : configurations) {
    const std::string wrong =
        check_region(index, region, kRecurrentFamily, configuration, values, 2e-5);
    CHECK_MESSAGE(wrong.empty(), l.target, " ", describe(configuration), ": ", wrong);
  }
}

} // namespace

TEST_CASE("recurrent layers compute what their definition says") {
  std::uint64_t seed = 1;
  for (const char *target :
       {"aten::lstm.input", "aten::gru.input", "aten::rnn_tanh.input", "aten::rnn_relu.input"})
    for (const std::int64_t directions : {1, 2}) {
      Layers l{target};
      l.directions = directions;
      l.layers = static_cast<std::int64_t>(1 + seed % 3);
      l.features = seed % 2 ? 8 : 5;
      l.batch_first = seed % 2 == 0;
      l.biases = seed % 4 != 3;
      l.units = seed % 3 == 0 ? 32 : 16;
      l.batch = static_cast<std::int64_t>(1 + seed % 5);
      check(l, seed++);
    }
}

TEST_CASE("a batch beyond one block's is cut into chunks, the last of them short") {
  Layers l;
  l.batch = 19;
  l.steps = 2;
  check(l, 50);
}

TEST_CASE("blocks take parts of a layer's units") {
  for (const char *target : {"aten::lstm.input", "aten::gru.input"}) {
    Layers l{target};
    l.steps = 1; // so that no block waits for another
    l.layers = 2;
    l.units = 64;
    l.batch = 10;
    check(l, 60);
  }
}

TEST_CASE("recurrent layers that the family does not know are not claimed") {
  model::Graph graph = graph_of({});
  REQUIRE(recurrent_shape(GraphIndex(graph), graph.nodes[graph.nodes.size() - 3]));
  model::Graph halves = graph;
  for (model::Node &node : halves.nodes)
    for (model::TensorType &type : node.types)
      type.dtype = model::Dtype::Float16;
  CHECK(!recurrent_shape(GraphIndex(halves), halves.nodes[halves.nodes.size() - 3]));
  model::Graph odd = graph;
  odd.nodes[odd.nodes.size() - 3].attributes["arguments"] = std::string("[1, 2");
  CHECK(!recurrent_shape(GraphIndex(odd), odd.nodes[odd.nodes.size() - 3]));
  CHECK(!recurrent_shape(GraphIndex(graph), graph.nodes[0]));
}

TEST_CASE("a layer whose weights do not fit the device together is left to the library") {
  Layers l;
  l.units = 4096;
  const model::Graph graph = graph_of(l);
  const auto large = build_plan(graph, plan_buffers(graph), h200(), {});
  REQUIRE(large);
  CHECK(large->regions.back().planned.choice.family == "aten");
  l.units = 128;
  const model::Graph other = graph_of(l);
  const auto small = build_plan(other, plan_buffers(other), h200(), {});
  REQUIRE(small);
  CHECK(small->regions.back().planned.choice.family == "recurrent");
}

TEST_CASE("recurrent kernels with several blocks a layer compile for Hopper") {
  for (const char *target : {"aten::lstm.input", "aten::gru.input", "aten::rnn_tanh.input"})
    for (const std::int64_t directions : {1, 2}) {
      Layers l{target};
      l.layers = 3;
      l.directions = directions;
      l.units = 128;
      l.batch = 10;
      const model::Graph graph = graph_of(l);
      const GraphIndex index(graph);
      const Region region = region_of(graph);
      const auto configurations = kRecurrentFamily.configurations(index, region, h200());
      REQUIRE(!configurations.empty());
      // Layers of one direction run as one wave.
      CHECK(configurations.front().at("layers") == (directions == 1 ? 3 : 1));
      const auto lowering =
          kRecurrentFamily.lower(index, region, configurations.front(), h200(), "k0_recurrent");
      REQUIRE(lowering);
      CHECK(lowering->source.find("trap") == std::string::npos);
      for (const model::Step &step : lowering->steps)
        if (const auto *launch = std::get_if<model::LaunchStep>(&step)) {
          CHECK(launch->cooperative); // its blocks wait for each other
          CHECK(launch->grid[0].evaluate({}).value() <= arch::gpu_named("h200").value().multiprocessors);
        }
      const auto errors = tests::nvrtc_errors(whole_source(*lowering), {}, "sm_90a");
      if (!errors) {
        MESSAGE("skipped: no NVRTC");
        return;
      }
      CHECK_MESSAGE(errors->empty(), *errors);
    }
}
