#include "server/export/model_writer.h"
#include "server/export/runtime_text.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;

namespace {

model::Buffer buffer(const std::string &name, const std::string &torch_name,
                     model::Direction direction) {
  model::Buffer made{.name = name, .extent = 8, .direction = direction};
  made.shape = {8};
  made.torch_name = torch_name;
  return made;
}

ModelText guarded(std::string inputs = "", std::string outputs = "") {
  return {.patterns = {std::move(inputs), std::move(outputs), {"{}"}}};
}

struct Written {
  model::Task task;
  model::Graph graph;
  model::Plan plan;
  Written() {
    task.name = "Model";
    task.module =
        model::TorchModule{.source = "import torch\nclass Model(torch.nn.Module):\n    pass\n"};
    task.buffers = {buffer("x", "x", model::Direction::In),
                    buffer("w", "weight", model::Direction::In),
                    buffer("output", "output", model::Direction::Out)};
    graph.nodes = {{"x", "input", {}, {}, {{}}}, {"w", "parameter", {}, {}, {{}}}};
    plan.source = "extern \"C\" __global__ void k(const float *x, const float *w, float *out) {}\n";
    model::LaunchStep launch;
    launch.kernel = "k";
    launch.block = {32, 1, 1};
    launch.arguments = {model::BufferArgument{"x", 0}, model::BufferArgument{"w", 4},
                        model::BufferArgument{"output", 0}};
    plan.steps = {launch};
  }
};

} // namespace

TEST_CASE("a plan becomes a class that derives from the user's and takes its own tensors by name") {
  const Written given;
  const auto text =
      write_model(given.task, given.graph, given.plan,
                  {.device = {90, 132}, .patterns = {.guards = {"{'training': 'T'}"}}});
  REQUIRE(text);
  CHECK(text->starts_with(given.task.module->source));
  for (const char *part :
       {"class ModelNew(Model):\n    forward = "
        "_warpwright_Model_exported.forward_of(Model.forward)\n",
        "\"inputs\": [...],\n    \"outputs\": ...,\n    \"state\": [\"weight\"],\n",
        "\"arguments\": [\n        (\"x\", \"float32\", [8]),\n        (\"w\", \"float32\", "
        "[8]),\n    ],",
        "(\"launch\", \"k\", (1, 1, 1), (32, 1, 1), 0, [(\"buffer\", \"x\", 0), (\"buffer\", "
        "\"w\", 4), "
        "(\"buffer\", \"output\", 0)]),\n",
        "\"capability\": 90,\n    \"target\": \"sm_90a\",\n    \"multiprocessors\": 132,",
        "{\n    \"name\": \"Model\",\n    \"guards\": [\n        {'training': 'T'},\n    ],",
        "warpwright_fallbacks = _warpwright_load().fallbacks_of(__name__)", "_warpwright_Model_source = r'''extern \"C\" __global__ void k("})
    CHECK(text->find(part) != std::string::npos);
}

TEST_CASE("what no GPU verified runs on whatever GPU is there") {
  const Written given;
  const auto text = write_model(given.task, given.graph, given.plan, guarded());
  REQUIRE(text);
  CHECK(text->find("\"capability\": None,") != std::string::npos);
}

TEST_CASE("inputs and outputs have the form that the module's own have") {
  const Written given;
  const auto text = write_model(given.task, given.graph, given.plan, guarded("[..., 3.14]", "[...]"));
  REQUIRE(text);
  CHECK(text->find("\"inputs\": [..., 3.14],\n    \"outputs\": [...],") != std::string::npos);
}

TEST_CASE("what a runner tells of a call is no code") {
  const Written given;
  for (const char *text : {"__import__('os')", "[..., eval('1')]", "[...]\n", "['", "x", "[lambda: 0]"})
    for (const CallPatterns &patterns :
         {CallPatterns{text, "", {"{}"}}, CallPatterns{"", text, {"{}"}}, CallPatterns{"", "", {text}}})
      CHECK_FALSE(write_model(given.task, given.graph, given.plan, {.patterns = patterns}));
  for (const char *text :
       {"[..., -3.5e-07, 'a\\'b', b\"x\", (1+2j), None, True]", "[float(\"inf\"), {'k': ...}]"})
    CHECK(write_model(given.task, given.graph, given.plan, guarded(text, "...")));
}

TEST_CASE("a plan that nobody says the module's state for is not written") {
  const Written given;
  CHECK_FALSE(write_model(given.task, given.graph, given.plan, {}));
}

TEST_CASE("a library step names its tensors, and takes what else it is given as it is") {
  Written given;
  given.plan.temporaries = {{"t", model::Dtype::Float32, 8}};
  model::AtenStep aten;
  aten.op = "aten::mul.Tensor";
  aten.arguments = {model::TensorView{"x", 0, {2, 4}, {}}, std::monostate(),      true, 3.0,
                    std::vector<std::int64_t>{1, 2},       std::string("float32")};
  aten.keywords = {{"alpha", std::int64_t{2}}};
  aten.results = {model::TensorView{"t", 0, {8}, {}}};
  given.plan.steps.insert(given.plan.steps.begin(), aten);
  const auto text = write_model(given.task, given.graph, given.plan, guarded());
  REQUIRE(text);
  CHECK(text->find(
            "(\"aten\", \"aten::mul.Tensor\", [(\"view\", \"x\", 0, [2, 4], [4, 1]), None, True, "
            "3.0, [1, 2], \"float32\"], {\"alpha\": 2}, [(\"t\", [8], [1])])") !=
        std::string::npos);
  CHECK(text->find("(\"t\", \"float32\", [8]),") != std::string::npos);
}

TEST_CASE("what cannot be spelled is refused with the reason") {
  Written given;
  given.plan.source += "// '''\n";
  CHECK_FALSE(write_model(given.task, given.graph, given.plan, guarded()));
  Written no_module;
  no_module.task.module.reset();
  CHECK_FALSE(write_model(no_module.task, no_module.graph, no_module.plan, guarded()));
}

TEST_CASE("a standalone text holds the package and the device headers that the other one imports and includes") {
  Written given;
  for (const NamedText &header : device_headers())
    given.plan.source = std::string(header.text) + given.plan.source;
  const auto small = write_model(given.task, given.graph, given.plan, guarded());
  REQUIRE(small);
  CHECK(small->find("import warpwright_runtime\n") != std::string::npos);
  const auto alone = standalone_text(*small);
  REQUIRE(alone);
  CHECK(alone->find("import warpwright_runtime\n") == std::string::npos);
  CHECK(alone->find(runtime_extension()) != std::string::npos);
  CHECK(alone->find("r'''" + given.plan.source + "'''") != std::string::npos);
  for (const NamedText &header : device_headers()) {
    CHECK(small->find("#include <warpwright/" + std::string(header.name) + ">\n") != std::string::npos);
    CHECK(small->find(header.text) == std::string::npos);
  }
}
