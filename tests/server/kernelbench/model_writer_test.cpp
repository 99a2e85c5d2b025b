#include "server/export/model_writer.h"
#include "support/hash.h"
#include "support/words.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

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
  return {.patterns = {std::move(inputs), std::move(outputs), {"{}"}}, .plan_file = "a.wwplan"};
}

/// A model without submodules, whose forward reads a number.
ModelText standalone() {
  return {.comment = "Measured.",
          .patterns = {"[...]",
                       "...",
                       {"{'modules': [(-1, '', '', 0, )], 'training': 'F', 'attributes': [(0, "
                        "'scale', 0.5, )], 'flags': {'deterministic': False, 'default_dtype': 'float32'}}"}},
          .plan_file = "a.wwplan",
          .standalone = true};
}

long lines(const std::string &text) { return std::ranges::count(text, '\n'); }

std::string text_of(const nlohmann::json &document, const char *name) {
  return joined(document.at(name), "\n", [](const auto &line) { return line.template get<std::string>(); });
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

  Result<ModelAddition> write(const ModelText &text) const {
    return write_addition(task, graph, plan, text);
  }
  std::string decorator(const ModelText &text) const {
    const auto written = write(text);
    REQUIRE(written);
    return written->decorator;
  }
  /// The plan in the plan file.
  std::string plan_text(const ModelText &text) const {
    const auto written = write(text);
    REQUIRE(written);
    return text_of(nlohmann::json::parse(written->plan_file), "plan");
  }
  std::string why_not_alone(const ModelText &text) const {
    CHECK_FALSE(plan_text(text).empty());
    const std::string decorator = this->decorator(text);
    return decorator.substr(0, decorator.find('\n'));
  }
};

} // namespace

TEST_CASE("the package form is a small text that names the plan file") {
  const Written given;
  ModelText text = guarded();
  text.comment = "Verified.\n1\n2\n3\n4\n5\n6\n7\n8";
  const auto written = given.write(text);
  REQUIRE(written);
  CHECK(written->decorator.starts_with("# Verified.\n# 1\n"));
  CHECK(written->decorator.ends_with("\n@warpwright.plans(\"a.wwplan\")\n"));
  CHECK(written->subclass == "class ModelNew(Model):\n    pass\n");
  const long all = lines(written->decorator + written->subclass) + 2; // and the marks around it
  CHECK(all >= 6);
  CHECK(all <= 20);
  CHECK(whole_file(given.task.module->source, *written) ==
        given.task.module->source + "\n\n" + written->decorator + written->subclass);
}

TEST_CASE("the plan file holds the plan, and the kernels' text whose hash the plan names") {
  const Written given;
  const auto written =
      given.write({.device = {90, 132}, .patterns = {.guards = {"{'training': 'T'}"}}});
  REQUIRE(written);
  const auto document = nlohmann::json::parse(written->plan_file);
  CHECK(text_of(document, "source") == given.plan.source);
  const std::string plan = text_of(document, "plan");
  for (const char *part :
       {"\"inputs\": [...],\n    \"outputs\": ...,\n    \"state\": [\"weight\"],\n",
        "\"arguments\": [\n        (\"x\", \"float32\", [8]),\n        (\"w\", \"float32\", "
        "[8]),\n    ],",
        "(\"launch\", \"k\", (1, 1, 1), (32, 1, 1), 0, [(\"buffer\", \"x\", 0), (\"buffer\", "
        "\"w\", 4), "
        "(\"buffer\", \"output\", 0)]),\n",
        "\"capability\": 90,\n    \"target\": \"sm_90a\",\n    \"multiprocessors\": 132,",
        "{\n    \"name\": \"Model\",\n    \"guards\": [\n        {'training': 'T'},\n    ],"})
    CHECK(plan.find(part) != std::string::npos);
  CHECK(plan.find("\"sha256\": \"" + sha256_hex(given.plan.source) + "\"") != std::string::npos);
}

TEST_CASE("what no GPU verified runs on whatever GPU is there") {
  CHECK(Written().plan_text(guarded()).find("\"capability\": None,") != std::string::npos);
}

TEST_CASE("inputs and outputs have the form that the module's own have") {
  CHECK(Written().plan_text(guarded("[..., 3.14]", "[...]")).find("\"inputs\": [..., 3.14],\n    \"outputs\": [...],") !=
        std::string::npos);
}

TEST_CASE("what a runner tells of a call is no code") {
  const Written given;
  for (const char *text : {"__import__('os')", "[..., eval('1')]", "[...]\n", "['", "x", "[lambda: 0]"})
    for (const CallPatterns &patterns :
         {CallPatterns{text, "", {"{}"}}, CallPatterns{"", text, {"{}"}}, CallPatterns{"", "", {text}}})
      CHECK_FALSE(given.write({.patterns = patterns}));
  for (const char *text :
       {"[..., -3.5e-07, 'a\\'b', b\"x\", (1+2j), None, True]", "[float(\"inf\"), {'k': ...}]"})
    CHECK(given.write(guarded(text, "...")));
}

TEST_CASE("a plan that nobody says the module's state for is not written") {
  CHECK_FALSE(Written().write({}));
  Written no_module;
  no_module.task.module.reset();
  CHECK_FALSE(no_module.write(guarded()));
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
  const std::string text = given.plan_text(guarded());
  CHECK(text.find(
            "(\"aten\", \"aten::mul.Tensor\", [(\"view\", \"x\", 0, [2, 4], [4, 1]), None, True, "
            "3.0, [1, 2], \"float32\"], {\"alpha\": 2}, [(\"t\", [8], [1])])") !=
        std::string::npos);
  CHECK(text.find("(\"t\", \"float32\", [8]),") != std::string::npos);
  CHECK(given.why_not_alone(standalone()) ==
        "# It cannot stand alone: one of its steps is not a kernel.");
}

TEST_CASE("a small plan stands alone: the kernels and what launches them, in at most 100 lines") {
  const Written given;
  const auto written = given.write(standalone());
  REQUIRE(written);
  CHECK(written->plan_file.empty());
  CHECK(written->decorator.starts_with("# Measured.\n_warpwright_Model_source = r'''" + given.plan.source + "'''\n"));
  CHECK(written->decorator.ends_with("\n@_warpwright_plans(_warpwright_Model_source, _warpwright_Model_plan)\n"));
  CHECK(written->decorator.find("import warpwright") == std::string::npos);
  const long all = lines(written->decorator + written->subclass) + 2;
  CHECK(all <= 100);
  Written longer;
  for (long i = all; i < 100; ++i)
    longer.plan.source += "//\n";
  CHECK(longer.write(standalone())->plan_file.empty());
  longer.plan.source += "//\n";
  CHECK(longer.why_not_alone(standalone()) == "# It cannot stand alone: it would take 101 lines, which is more than 100.");
}

TEST_CASE("the shared functions stand in a standalone text where the kernels call one of them") {
  const std::string functions =
#include "generator/device/scalar.cuh.inc"
      ;
  Written given;
  const std::string kernel = given.plan.source;
  given.plan.source = functions + kernel;
  CHECK(given.decorator(standalone()).find("r'''" + kernel) != std::string::npos);
  const std::string name = functions.substr(functions.find("T warpwright") + 2);
  given.plan.source += "// " + name.substr(0, name.find('(')) + "\n";
  CHECK(given.decorator(standalone()).find("r'''" + kernel) == std::string::npos);
}

TEST_CASE("a plan that a plain launch or a short question does not do cannot stand alone") {
  const auto why = [](const std::function<void(Written &, ModelText &)> &change) {
    Written given;
    ModelText text = standalone();
    change(given, text);
    return given.why_not_alone(text);
  };
  CHECK(why([](Written &, ModelText &text) { text.patterns.guards = {"{'modules': [(-1, '', '', 1, ), (0, 'a', 'B', 0, )]}"}; })
            .ends_with(": the module has submodules."));
  CHECK(why([](Written &, ModelText &text) { text.patterns.guards.push_back(text.patterns.guards[0] + ", ('is', 'builtin torch.relu', )"); })
            .ends_with(": forward reads more than numbers and texts."));
  CHECK(why([](Written &, ModelText &text) { text.patterns.inputs = "[..., 3.14]"; })
            .ends_with(": its inputs or outputs are more than tensors."));
  CHECK(why([](Written &given, ModelText &) { given.plan.source += "#include <cuda_fp16.h>\n"; })
            .ends_with(": its kernels include headers of CUDA."));
  CHECK(why([](Written &given, ModelText &) { given.plan.source += "// '''\n"; })
            .ends_with(": the kernels' text holds three quotes in a row."));
  CHECK(why([](Written &given, ModelText &) { std::get<model::LaunchStep>(given.plan.steps[0]).cooperative = true; })
            .ends_with(": a kernel of it needs more than a plain launch."));
}
