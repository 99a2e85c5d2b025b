#include "server/torch/model_writer.h"

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
  const auto text = write_model(given.task, given.graph, given.plan, {});
  REQUIRE(text);
  CHECK(text->starts_with(given.task.module->source));
  CHECK(
      text->find(
          "cpp_sources=\"std::vector<at::Tensor> warpwright_forward(const std::vector<at::Tensor> "
          "&inputs);\",\n") != std::string::npos);
  CHECK(text->find("class ModelNew(Model):") != std::string::npos);
  CHECK(text->find("_warpwright_attrgetter(\"weight\")") != std::string::npos);
  CHECK(text->find("k<<<dim3(1, 1, 1), dim3(32, 1, 1), 0, stream>>>(WarpwrightPointer{x_, 0}, "
                   "WarpwrightPointer{w_, 4}, WarpwrightPointer{output_, 0});") !=
        std::string::npos);
  CHECK(text->find("super().forward(*inputs)") != std::string::npos);
  CHECK(text->find("torch.cuda.get_device_capability() == (9, 0) else None") != std::string::npos);
}

TEST_CASE("what no GPU verified is compiled for whatever GPU is there, and only there") {
  const Written given;
  const auto text = write_model(given.task, given.graph, given.plan, {.compute_capability = 0});
  REQUIRE(text);
  CHECK(text->find("_warpwright_Model_build() if torch.cuda.is_available() else None") !=
        std::string::npos);
  CHECK(text->find("gencode") == std::string::npos);
}

TEST_CASE("a library step becomes a call of at:: whose result is the temporary") {
  Written given;
  given.plan.temporaries = {{"t", model::Dtype::Float32, 8}};
  model::AtenStep aten;
  aten.op = "aten::mul.Tensor";
  aten.arguments = {model::TensorView{"x", 0, {8}, {}}, model::TensorView{"w", 0, {8}, {}}};
  aten.results = {model::TensorView{"t", 0, {8}, {}}};
  given.plan.steps.insert(given.plan.steps.begin(), aten);
  const auto text = write_model(given.task, given.graph, given.plan, {});
  REQUIRE(text);
  CHECK(text->find("const auto results0 = at::mul(x_.as_strided(") != std::string::npos);
  CHECK(text->find("t_ = results0;") != std::string::npos);
  CHECK(text->find("at::Tensor t_ = at::empty") == std::string::npos);
}

TEST_CASE("what cannot be spelled is refused with the reason") {
  Written given;
  given.plan.source += "// '''\n";
  CHECK_FALSE(write_model(given.task, given.graph, given.plan, {}));
  Written no_module;
  no_module.task.module.reset();
  CHECK_FALSE(write_model(no_module.task, no_module.graph, no_module.plan, {}));
}
