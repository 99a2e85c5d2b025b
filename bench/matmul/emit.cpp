// Prints the plans that the matmul family writes for a product, one JSON object a line, for bench/matmul/family_run.py to measure.
//
//   matmul_emit M N K [BATCH] [LAYOUT] [EPILOGUE] [MOST] [DTYPE]
//
// LAYOUT: nn, nt (the right operand lies as N x K), tn, tt. EPILOGUE: none, bias_relu, prologue (relu before the left operand),
// triangle (all lower), gated (the sigmoid of the product times a second product of the same left operand).
// Thread: one.
#include "generator/elements/family.h"
#include "generator/families/matmul/matmul.h"
#include "generator/families/matmul/matmul_guess.h"
#include "support/model/json.h"

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace warpwright;
using namespace warpwright::elements;
using namespace warpwright::ops;

namespace {

model::Dtype element = model::Dtype::Float32;

model::Node node(const std::string &name, const std::string &op, std::vector<std::string> inputs,
                 model::Shape shape, model::Attributes attributes = {}) {
  return {name, op, std::move(inputs), std::move(attributes), {{element, shape, {}}}};
}

} // namespace

int main(int count, char **arguments) {
  const auto number = [&](int i, std::int64_t fallback) {
    return i < count ? std::atoll(arguments[i]) : fallback;
  };
  const std::int64_t m = number(1, 128), n = number(2, 128), k = number(3, 128),
                     batch = number(4, 1);
  const std::string layout = 5 < count ? arguments[5] : "nn",
                    epilogue = 6 < count ? arguments[6] : "none";
  const std::size_t most = static_cast<std::size_t>(number(7, 12));
  if (8 < count)
    element = model::dtype_from_name(arguments[8]).value_or(element);
  const auto shape = [&](std::int64_t rows, std::int64_t columns) {
    return batch > 1 ? model::Shape{batch, rows, columns} : model::Shape{rows, columns};
  };
  const model::Shape swap = batch > 1 ? model::Shape{0, 2, 1} : model::Shape{1, 0};
  model::Graph graph;
  Region region;
  const auto inside = [&](model::Node added) {
    region.nodes.push_back(added.name);
    graph.nodes.push_back(std::move(added));
  };
  const bool a_turned = layout[0] == 't', b_turned = layout[1] == 't';
  graph.nodes.push_back(node("a", "input", {}, a_turned ? shape(k, m) : shape(m, k)));
  graph.nodes.push_back(node("b", "input", {}, b_turned ? shape(n, k) : shape(k, n)));
  region.inputs = {"a", "b"};
  std::string a = "a", b = "b", c = "c";
  if (a_turned)
    inside(node(a = "a_turned", "permute", {"a"}, shape(m, k), {{"dims", swap}}));
  if (b_turned)
    inside(node(b = "b_turned", "permute", {"b"}, shape(k, n), {{"dims", swap}}));
  if (epilogue == "prologue") {
    inside(node("a_relu", "relu", {a}, shape(m, k)));
    a = "a_relu";
  }
  model::Attributes promises;
  if (epilogue == "triangle") {
    const model::Attributes diagonal{{"diagonal", std::int64_t{0}}};
    inside(node("a_lower", "tril", {a}, shape(m, k), diagonal));
    inside(node("b_lower", "tril", {b}, shape(k, n), diagonal));
    a = "a_lower";
    b = "b_lower";
    promises = {{"a_fill", std::string("lower")},
                {"b_fill", std::string("lower")},
                {"fill", std::string("lower")}};
  }
  inside(node("c", "matmul", {a, b}, shape(m, n), promises));
  if (epilogue == "triangle") {
    inside(node("c_lower", "tril", {"c"}, shape(m, n), {{"diagonal", std::int64_t{0}}}));
    c = "c_lower";
  }
  if (epilogue == "gated") {
    graph.nodes.insert(graph.nodes.begin(), node("b2", "input", {}, b_turned ? shape(n, k) : shape(k, n)));
    region.inputs.push_back("b2");
    std::string b2 = "b2";
    if (b_turned)
      inside(node(b2 = "b2_turned", "permute", {"b2"}, shape(k, n), {{"dims", swap}}));
    inside(node("twin", "matmul", {a, b2}, shape(m, n)));
    inside(node("gate", "sigmoid", {"c"}, shape(m, n)));
    inside(node("gated", "mul", {"gate", "twin"}, shape(m, n)));
    c = "gated";
  }
  if (epilogue == "bias_relu") {
    graph.nodes.insert(graph.nodes.begin(), node("bias", "input", {}, {n}));
    region.inputs.push_back("bias");
    inside(node("c_bias", "add", {"c", "bias"}, shape(m, n)));
    inside(node("c_relu", "relu", {"c_bias"}, shape(m, n)));
    c = "c_relu";
  }
  graph.outputs = {c};
  region.anchor = "c";
  region.outputs = {c};
  const GraphIndex index(graph);
  const DeviceFacts device{arch::gpu_named("h200").value()};
  const auto problem = families::matmul::matmul_problem(index, region);
  if (!problem) {
    std::cerr << problem.error().message << "\n";
    return 1;
  }
  for (const Configuration &configuration : matmul_configurations(*problem, device, most)) {
    auto lowering =
        families::matmul::kMatmulFamily.lower(index, region, configuration, device, "p");
    if (!lowering) {
      std::cerr << lowering.error().message << "\n";
      continue;
    }
    model::Plan plan;
    plan.source = ElementWriter::prelude() + lowering->source;
    plan.steps = lowering->steps;
    plan.temporaries = lowering->temporaries;
    std::cout << nlohmann::json{{"m", m},
                                {"n", n},
                                {"k", k},
                                {"batch", batch},
                                {"layout", layout},
                                {"epilogue", epilogue},
                                {"configuration", configuration},
                                {"dtype", model::name(element)},
                                {"result", c},
                                {"plan", model::to_json(plan)}}
                     .dump()
              << "\n";
  }
}
