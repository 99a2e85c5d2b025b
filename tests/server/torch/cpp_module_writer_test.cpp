#include "server/export/cpp_writer.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;

namespace {

const std::string kSource = R"(#include <torch/torch.h>
struct Net : Base {
  explicit Net(int64_t width, std::vector<int64_t> steps = {1, 2});
  virtual torch::Tensor forward(torch::Tensor x, bool hard = false) override;
  torch::nn::Linear fc{nullptr};
};
Net::Net(int64_t width, std::vector<int64_t> steps) {
  build();
}
torch::Tensor Net::forward(torch::Tensor x, bool hard) { return fc(x); }
)";

model::Buffer buffer(const std::string &name, const std::string &torch_name,
                     model::Direction direction) {
  return {
      .name = name, .extent = 8, .direction = direction, .shape = {8}, .torch_name = torch_name};
}

struct Given {
  model::Task task;
  analysis::Kernel net;
  model::Plan plan;

  Given() {
    task.module = model::TorchModule{.language = "cpp",
                                     .source = kSource,
                                     .model = "struct Net",
                                     .inputs = "[torch.randn([8]), False]",
                                     .init_inputs = "[8]",
                                     .mode = model::ModuleMode::Eval};
    task.buffers = {buffer("x", "x", model::Direction::In),
                    buffer("unused", "fc.unused", model::Direction::In),
                    buffer("fc_weight", "fc.weight", model::Direction::In),
                    buffer("output", "output", model::Direction::Out)};
    const auto range = [](const std::string &text, std::size_t from = 0) {
      const std::size_t at = kSource.find(text, from);
      return Range{at, at + text.size()};
    };
    const std::size_t outside = kSource.find("torch::Tensor Net::forward");
    net.name = "Net";
    net.range = {kSource.find("struct Net"), kSource.find("};") + 1};
    net.name_range = range("Net");
    net.body_range = range("{ return fc(x); }");
    net.parameters = {{.name = "x", .type = "torch::Tensor x"},
                      {.name = "hard", .type = "bool hard"}};
    net.forward = analysis::CppForward{
        .range = {outside, net.body_range.end},
        .name_range = range("forward", outside),
        .declaration =
            range("virtual torch::Tensor forward(torch::Tensor x, bool hard = false) override"),
        .numbers = {{"slope_", "0.5"}},
        .made_with = {{"width", "8"}, {"steps", "{1, 2}"}},
        .constructor_body = kSource.find("\n  build()"),
        .class_end = kSource.find("};\nNet::Net")};
    plan.source = "extern \"C\" __global__ void k(const float *x, float *y) {}\n";
    model::LaunchStep launch;
    launch.kernel = "k";
    launch.block = {32, 1, 1};
    launch.arguments = {model::BufferArgument{"x", 0}, model::BufferArgument{"fc_weight", 0},
                        model::BufferArgument{"output", 0}};
    plan.steps = {launch};
  }

  Result<std::string> written() const { return write_cpp_variant(task, net, plan, {}); }
};

} // namespace

TEST_CASE("a module's forward calls the kernels with its tensors, where the object was made as "
          "verified") {
  const auto text = Given().written();
  REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().message));
  for (const char *part :
       {"fits(inputs[1], at::kFloat, at::IntArrayRef({8}))",
        "  for (const char *name : {\"fc.weight\"}) {\n"
        "    const at::Tensor *tensor = parameters.find(name);\n",
        "run(const std::vector<at::Tensor> &inputs) {\n  if (inputs.empty())\n    return {};\n",
        "  torch::Tensor forward_as_written(torch::Tensor x, bool hard = false);\n"
        "  virtual torch::Tensor forward(torch::Tensor x, bool hard = false) override;\n",
        "  bool warpwright_made_as_verified_ = false; // by its constructor's arguments\n};\n",
        "std::vector<int64_t> steps) {\n"
        "    warpwright_made_as_verified_ = width == static_cast<std::decay_t<decltype(width)>>(8)"
        " && steps == std::decay_t<decltype(steps)>{1, 2};\n  build();\n",
        "torch::Tensor Net::forward_as_written(torch::Tensor x, bool hard) { return fc(x); }\n\n"
        "torch::Tensor Net::forward(torch::Tensor x, bool hard) {\n"
        "  if (!is_training() && warpwright_made_as_verified_ && "
        "slope_ == static_cast<std::decay_t<decltype(slope_)>>(0.5) && "
        "hard == static_cast<std::decay_t<decltype(hard)>>(false)) {\n"
        "    if (auto results = ::warpwright_Net::run(::warpwright_Net::with_state({x}, *this)); "
        "!results.empty())\n"
        "      return results[0];\n  }\n"
        "  return forward_as_written(x, hard);\n}\n"})
    CHECK_MESSAGE(text->find(part) != std::string::npos, part);
  CHECK(text->find("inputs[2]") == std::string::npos); // what no step uses is not asked for
  Given again;
  again.task.module->source = *text;
  CHECK_FALSE(again.written().has_value());
}

TEST_CASE("a forward that does more than a plan keeps its body") {
  Given obstructed;
  obstructed.net.forward->obstacle = "line 4 changes a member of the object";
  CHECK(obstructed.written().error().message.find("line 4") != std::string::npos);
}

TEST_CASE("an object whose constructor takes nothing needs no check of how it was made") {
  Given given;
  given.net.forward->made_with.clear();
  given.net.forward->numbers.clear();
  given.task.module->mode = model::ModuleMode::Train;
  const auto text = given.written();
  REQUIRE(text.has_value());
  CHECK(text->find("warpwright_made_as_verified_") == std::string::npos);
  CHECK(text->find("  if (is_training() && hard == ") != std::string::npos);
}

TEST_CASE("a plan that needs none of the object's tensors looks none up") {
  Given given;
  given.task.buffers.erase(given.task.buffers.begin() + 1, given.task.buffers.begin() + 3);
  std::get<model::LaunchStep>(given.plan.steps[0]).arguments = {model::BufferArgument{"x", 0},
                                                                model::BufferArgument{"output", 0}};
  const auto text = given.written();
  REQUIRE(text.has_value());
  CHECK(text->find("::warpwright_Net::run({x});") != std::string::npos);
  CHECK(text->find("named_parameters") == std::string::npos);
}
