// Torch tasks, ATen steps and op graphs: JSON, and what check_plan() says of them.
#include "support/model/aten_operators.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"

#include <doctest/doctest.h>
#include <limits>

namespace warpwright::model {
namespace {

using nlohmann::json;

json torch_task_document() {
  return json::parse(R"json({
    "name": "Model", "sizes": {},
    "module": {"source": "import torch", "model": "Net", "mode": "eval"},
    "buffers": [
      {"name": "x", "dtype": "float32", "extent": 6, "direction": "in", "shape": [2, 3],
       "distribution": {"kind": "module"}},
      {"name": "linear_weight", "dtype": "float32", "extent": 12, "direction": "in", "shape": [4, 3],
       "torch_name": "linear.weight", "distribution": {"kind": "module"}},
      {"name": "out", "dtype": "float32", "extent": 8, "direction": "out", "shape": [2, 4]}],
    "reference": {"source": "", "steps": [{"module": {}}]}})json");
}

json torch_plan_document() {
  return json::parse(R"json({
    "source": "extern \"C\" __global__ void relu(const float *x, float *y) {}",
    "temporaries": [{"name": "product", "dtype": "float32", "extent": 8}],
    "steps": [
      {"aten": {"op": "aten::mm",
                "arguments": [{"tensor": {"buffer": "x", "shape": [2, 3]}},
                              {"tensor": {"buffer": "linear_weight", "shape": [3, 4], "strides": [1, 3]}}],
                "results": [{"buffer": "product", "shape": [2, 4]}]}},
      {"launch": {"kernel": "relu", "block": [8], "arguments": [{"buffer": "product"}, {"buffer": "out"}]}}]})json");
}

Task task() {
  auto decoded = task_from_json(torch_task_document());
  REQUIRE_MESSAGE(decoded.has_value(), (decoded ? "" : describe(decoded.error())));
  return *decoded;
}

TEST_CASE("an export comes back with its files, which lie beside it") {
  Plan plan;
  plan.steps.push_back(ModuleStep{
      .source = "class ModelNew: pass", .exported = true, .files = {{"a.wwplan", "{}"}}});
  CHECK(is_export(plan));
  CHECK(is_host_code(plan));
  const auto back = plan_from_json(to_json(plan));
  REQUIRE(back);
  CHECK(*back == plan);
  CHECK(check_plan(plan, task()));
  std::get<ModuleStep>(plan.steps[0]).files = {{"../a.wwplan", "{}"}};
  CHECK(!check_plan(plan, task()));
  std::get<ModuleStep>(plan.steps[0]) = ModuleStep{.source = "class ModelNew: pass"};
  CHECK(!is_export(plan));
}

TEST_CASE("a torch task comes back as it was") {
  const Task first = task();
  CHECK(first.module->model == "Net");
  CHECK(first.module->inputs == "get_inputs");
  CHECK(first.module->mode == ModuleMode::Eval);
  CHECK(first.buffers[1].shape == std::vector<std::int64_t>{4, 3});
  CHECK(first.buffers[1].torch_name == "linear.weight");
  CHECK(first.buffers[0].distribution.kind == Distribution::Kind::Module);
  CHECK(std::holds_alternative<ModuleStep>(first.reference.steps.front()));
  CHECK(task_from_json(to_json(first)).value() == first);
}

TEST_CASE("a module is called as it is made unless its mode says otherwise, and older documents' are known") {
  json document = torch_task_document();
  const auto mode = [&] {
    const auto decoded = task_from_json(document);
    REQUIRE_MESSAGE(decoded.has_value(), (decoded ? "" : describe(decoded.error())));
    CHECK(task_from_json(to_json(*decoded)).value() == *decoded);
    return decoded->module->mode;
  };
  document["module"].erase("mode");
  CHECK(mode() == ModuleMode::AsMade);
  document["module"]["training"] = false;
  CHECK(mode() == ModuleMode::Eval);
  document["module"]["training"] = true;
  CHECK(mode() == ModuleMode::Train);
  document["module"]["mode"] = "other";
  CHECK_FALSE(task_from_json(document).has_value());
  CHECK_FALSE(torch_module_from_json(document["module"]).has_value());
}

TEST_CASE("a module's files of its project come back, and none may lie outside of their folder") {
  json document = torch_task_document();
  CHECK_FALSE(to_json(task())["module"].contains("files"));
  document["module"]["files"] = {{"net/layers.py", "x = 1"}, {"util.py", ""}};
  document["module"]["path"] = "net/model.py";
  const auto decoded = task_from_json(document);
  REQUIRE_MESSAGE(decoded.has_value(), (decoded ? "" : describe(decoded.error())));
  CHECK(decoded->module->files.at("net/layers.py") == "x = 1");
  CHECK(task_from_json(to_json(*decoded)).value() == *decoded);
  CHECK(torch_module_from_json(document["module"]).value() == *decoded->module);
  for (const char *path : {"../layers.py", "/etc/layers.py", "net/../../x.py", "net//x.py", ""}) {
    document["module"]["path"] = path;
    CHECK_FALSE(task_from_json(document).has_value());
    CHECK_FALSE(torch_module_from_json(document["module"]).has_value());
  }
  document["module"]["path"] = "util.py"; // which is another file
  CHECK_FALSE(task_from_json(document).has_value());
}

TEST_CASE("a task whose results are float64 must come out closer than float32 could") {
  json document = torch_task_document();
  CHECK(task_from_json(document)->tolerance == Tolerance{});
  for (json &buffer : document["buffers"])
    if (buffer["direction"] == "out")
      buffer["dtype"] = "float64";
  const auto exact = task_from_json(document);
  REQUIRE_MESSAGE(exact.has_value(), (exact ? "" : describe(exact.error())));
  CHECK(exact->tolerance.relative == 1e-10);
  CHECK(exact->tolerance.absolute == 1e-10);
  document["tolerance"] = {{"absolute", 1e-3}};
  CHECK(task_from_json(document)->tolerance.absolute == 1e-3);
}

TEST_CASE("every kind of ATen argument comes back as it was") {
  AtenStep step;
  step.op = "aten::convolution";
  step.arguments = {std::monostate{},
                    TensorView{"x", 2, {2, 2}, {3, 1}},
                    std::vector<TensorView>{{"x", 0, {6}, {}}, {}, {"linear_weight", 0, {12}, {}}},
                    true,
                    std::int64_t{7},
                    1.0,
                    -std::numeric_limits<double>::infinity(),
                    std::vector<std::int64_t>{1, -2},
                    std::vector<std::int64_t>{},
                    std::string("tanh")};
  step.keywords["beta"] = 0.5;
  step.results = {{"product", 0, {2, 4}, {}}, {}};
  Plan plan;
  plan.steps = {step};
  plan.temporaries = {{"product", Dtype::Float32, 8}};
  const json document = json::parse(to_json(plan).dump());
  CHECK(document["steps"][0]["aten"]["results"][1].is_null());
  CHECK(document["steps"][0]["aten"]["arguments"][2]["tensors"][1].is_null());
  const auto again = plan_from_json(document);
  REQUIRE_MESSAGE(again.has_value(), (again ? "" : describe(again.error())));
  CHECK(*again == plan);
}

TEST_CASE("a graph comes back as it was, and a bad one is refused by its path") {
  Graph graph;
  graph.nodes = {
      {"x", "input", {}, {{"torch_name", std::string("x")}}, {{Dtype::Float32, {2, 3}, {1, 2}}}},
      {"low",
       "constant",
       {},
       {{"value", -std::numeric_limits<double>::infinity()}},
       {{Dtype::Float32, {}, {}}}},
      {"y",
       "amax",
       {"x"},
       {{"dims", Shape{1}}, {"keepdim", false}, {"n", std::int64_t{3}}},
       {{Dtype::Float32, {2}, {}}}}};
  graph.outputs = {"y"};
  graph.updates = {{"x", "y"}};
  json document = json::parse(to_json(graph).dump());
  const auto again = graph_from_json(document);
  REQUIRE_MESSAGE(again.has_value(), (again ? "" : describe(again.error())));
  CHECK(*again == graph);
  document["nodes"][2]["types"][0]["shape"] = {-1};
  const auto refused = graph_from_json(document);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().message.find("nodes[2].types[0].shape[0]") != std::string::npos);
}

/// What check_plan() says of the good plan after a patch; empty: nothing.
std::string complaint(const json &patch) {
  const auto plan = plan_from_json(torch_plan_document().patch(patch));
  if (!plan)
    return describe(plan.error());
  const auto checked = check_plan(*plan, task());
  return checked ? "" : describe(checked.error());
}

json replacement(const std::string &path, const json &value) {
  return json::array({{{"op", "replace"}, {"path", path}, {"value", value}}});
}

void complains(const json &patch, const std::string &part) {
  const std::string said = complaint(patch);
  INFO(patch.dump() << " gave: " << said);
  CHECK(said.find(part) != std::string::npos);
}

TEST_CASE("ATen steps stay inside buffers that exist, and give whole ones once") {
  CHECK(complaint(json::array()) == "");
  complains(replacement("/steps/0/aten/arguments/0/tensor/shape", {2, 4}), "the view leaves \"x\"");
  complains(replacement("/steps/0/aten/arguments/0/tensor/shape", {1ll << 62, 1ll << 62}),
            "the view leaves");
  complains(replacement("/steps/0/aten/arguments/1/tensor/strides", {1, 4}), "the view leaves");
  complains(replacement("/steps/0/aten/arguments/1/tensor/strides", {1}), "as many strides");
  complains(replacement("/steps/0/aten/arguments/0/tensor/buffer", "z"), "no buffer or temporary");
  complains(replacement("/steps/0/aten/results/0/buffer", "x"), "is an input");
  complains(replacement("/steps/0/aten/results/0/shape", {2, 3}), "the whole of \"product\"");
  complains(
      replacement("/steps/0/aten/results", json::array({{{"buffer", "product"}, {"shape", {8}}},
                                                    {{"buffer", "product"}, {"shape", {8}}}})),
      "the result of an earlier step");
  complains(replacement("/steps/1", {{"fill", {{"buffer", "product"}, {"byte", 0}}}}),
            "an operator's own memory");
  json swapped = torch_plan_document();
  std::swap(swapped["steps"][0], swapped["steps"][1]);
  const auto plan = plan_from_json(swapped);
  REQUIRE(plan.has_value());
  CHECK(describe(check_plan(*plan, task()).error()).find("a later step") != std::string::npos);
}

TEST_CASE("only a reference may call the module, and launches need source") {
  complains(replacement("/steps/0", {{"module", {{"compiled", true}}}}), "only the reference");
  complains(replacement("/source", ""), "has no source");
  json bad = torch_task_document();
  bad["reference"] = torch_plan_document();
  CHECK(describe(task_from_json(bad).error()).find("one call of it") != std::string::npos);
  bad = torch_task_document();
  bad["buffers"][0]["shape"] = {2, 4};
  CHECK(describe(task_from_json(bad).error()).find("shape holds 8 elements") != std::string::npos);
  bad = torch_task_document();
  std::swap(bad["buffers"][1], bad["buffers"][2]);
  CHECK(describe(task_from_json(bad).error()).find("outputs come last") != std::string::npos);
}

bool is_allowed(const std::string &op, std::vector<AtenArgument> arguments = {},
                std::map<std::string, AtenArgument> keywords = {}) {
  return check_operator({op, std::move(arguments), std::move(keywords), {}}).has_value();
}

TEST_CASE("operators that read files, mutate, resize or draw are not for plans") {
  for (const char *op : {"aten::convolution", "aten::add.Tensor", "aten::to.dtype", "aten::topk",
                         "aten::_cudnn_rnn", "aten::scaled_dot_product_attention"})
    CHECK_MESSAGE(is_allowed(op), op);
  for (const char *op :
       {"aten::from_file", "aten::add_.Tensor", "aten::add.out", "aten::resize_",
        "aten::set_.source_Storage", "aten::rand", "aten::bernoulli", "aten::to.device", "aten::to",
        "aten::_native_batch_norm_legit", "aten::nonzero", "aten::item",
        "aten::empty.memory_format", "prim::Print", "aten::", "aten::conv"})
    CHECK_MESSAGE(!is_allowed(op), op);
  CHECK(!is_allowed("aten::zeros", {}, {{"device", std::string("cuda:1")}}));
}

TEST_CASE("batch norm may not update statistics behind the plan's back, and dropout may not drop") {
  const TensorView x{"x", 0, {2, 3}, {}};
  CHECK(is_allowed("aten::native_batch_norm", {x, {}, {}, x, x, false, 0.1, 1e-5}));
  CHECK(is_allowed("aten::native_batch_norm", {x, {}, {}, {}, {}, true, 0.1, 1e-5}));
  CHECK(!is_allowed("aten::native_batch_norm", {x, {}, {}, x, {}, true, 0.1, 1e-5}));
  CHECK(!is_allowed("aten::native_batch_norm", {x, {}, {}, {}, x, true, 0.1, 1e-5}));
  CHECK(!is_allowed("aten::native_batch_norm", {x, {}, {}, x}));
  CHECK(is_allowed("aten::dropout", {x, 0.5, false}));
  CHECK(is_allowed("aten::dropout", {x, 0.0, true}));
  CHECK(!is_allowed("aten::dropout", {x, 0.5, true}));
  CHECK(!is_allowed("aten::scaled_dot_product_attention", {x, x, x}, {{"dropout_p", 0.1}}));
}

} // namespace
} // namespace warpwright::model
