#include "server/export/cpp_writer.h"

#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::server;

namespace {

const std::string kSource = R"(#include <torch/torch.h>
#include "own.h"

namespace own {
// Mixes.
std::tuple<torch::Tensor, torch::Tensor> mix(const torch::Tensor &x, const c10::optional<torch::Tensor> &w,
                                             int64_t steps, bool hard, torch::Tensor none) {
  return {x, x};
}
} // namespace own
)";

model::Buffer buffer(const std::string &name, model::Direction direction) {
  return {.name = name, .extent = 8, .direction = direction, .shape = {2, 4}, .torch_name = name};
}

struct Given {
  model::Task task;
  analysis::Kernel function;
  model::Plan plan;

  Given() {
    task.name = "mix";
    task.module =
        model::TorchModule{.language = "cpp",
                           .source = kSource,
                           .model = "own::mix",
                           .inputs = "[torch.randn([2, 4]), torch.randn([2, 4]), 3, True, None]"};
    task.buffers = {buffer("x", model::Direction::In), buffer("w", model::Direction::In),
                    buffer("output_0", model::Direction::Out),
                    buffer("output_1", model::Direction::Out)};
    function.name = "mix";
    const auto at = [](const char *text) { return kSource.find(text); };
    function.range = {at("std::tuple"), at("\n} // namespace own")};
    function.name_range = {at("mix("), at("mix(") + 3};
    function.body_range = {at("{\n  return {x"), at("\n} // namespace own")};
    function.parameters = {{.name = "x", .type = "const torch::Tensor &x"},
                           {.name = "w", .type = "const c10::optional<torch::Tensor> &w"},
                           {.name = "steps", .type = "int64_t steps"},
                           {.name = "hard", .type = "bool hard"},
                           {.name = "none", .type = "torch::Tensor none"}};
    plan.source = "extern \"C\" __global__ void k(const float *x, float *y) {}\n";
    model::LaunchStep launch;
    launch.kernel = "k";
    launch.block = {32, 1, 1};
    launch.shared_bytes = 65536;
    launch.arguments = {model::BufferArgument{"x", 2}, model::BufferArgument{"output_0", 0},
                        model::SizeArgument{7}};
    plan.steps = {launch};
  }

  std::string written() const {
    const auto text = write_cpp_variant(
        task, function, plan,
        {.comment = "1.50x\non an H200", .plan = "0123456789abcdef", .compute_capability = 90});
    REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().message));
    return *text;
  }
};

} // namespace

TEST_CASE("a function calls its plan's kernels where the arguments are those that were verified, "
          "and its own body else") {
  const std::string text = Given().written();
  for (const char *part :
       {"#include \"own.h\"\n#include <ATen/cuda/CUDAContext.h>\n",
        "// Warpwright's variant 0123456789abcdef of mix. 1.50x\n// on an H200\nnamespace "
        "warpwright_mix {\n",
        "R\"warpwright(extern \"C\" __global__ void k(const float *x, float *y) {}\n)warpwright\"",
        "const char *const kNames[kCount] = {\"k\"};\nconst int kShared[kCount] = {65536};\n"
        "const int kTogether[kCount] = {0};",
        "if (90 != 0 && capability != 90)", "fits(inputs[1], at::kFloat, at::IntArrayRef({2, 4}))",
        "launch(kernels->functions[0], dim3(1, 1, 1), dim3(32, 1, 1), 65536, stream, address(x_, "
        "2), address(output_0_, 0), static_cast<int>(7));",
        "namespace own {\n// Mixes.\nstd::tuple<torch::Tensor, torch::Tensor> "
        "mix_as_written(const torch::Tensor &x,",
        "torch::Tensor none) {\n  return {x, x};\n}\n\nstd::tuple<torch::Tensor, torch::Tensor> "
        "mix(const torch::Tensor &x,",
        "if (w.has_value() && steps == static_cast<std::decay_t<decltype(steps)>>(3) && hard == "
        "static_cast<std::decay_t<decltype(hard)>>(true) && !none.defined()) {\n"
        "    if (auto results = ::warpwright_mix::run({x, *w}); !results.empty())\n"
        "      return {results[0], results[1]};\n  }\n"
        "  return mix_as_written(x, w, steps, hard, none);\n}\n} // namespace own\n"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
  CHECK(text.find('@') == std::string::npos);
}

TEST_CASE("blocks that wait for each other are launched together where the GPU holds them all") {
  Given given;
  auto &launch = std::get<model::LaunchStep>(given.plan.steps[0]);
  launch.grid = {11, 12, 1};
  launch.block = {32, 8, 1};
  launch.cooperative = true;
  const std::string text = given.written();
  for (const char *part : {"kTogether[kCount] = {132};", "kThreads[kCount] = {256};",
                           "  launch_together(kernels->functions[0], dim3(11, 12, 1), dim3(32, 8, "
                           "1), 65536, stream, "})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
}

TEST_CASE("a variant follows a function that moved, and not one that changed") {
  const Given given;
  const std::string variant = given.written();
  const auto same = cpp_variant_edits(kSource, variant, kSource);
  REQUIRE(same.has_value());
  CHECK(apply_edits(kSource, *same) == variant);
  const std::string moved = "// A new line.\n" + kSource + "int other;\n";
  const auto edits = cpp_variant_edits(kSource, variant, moved);
  REQUIRE(edits.has_value());
  CHECK(apply_edits(moved, *edits) == "// A new line.\n" + variant + "int other;\n");
  std::string changed = kSource;
  changed.replace(changed.find("{x, x}"), 6, "{x, -x}");
  CHECK_FALSE(cpp_variant_edits(kSource, variant, changed).has_value());
}

TEST_CASE("a variant of a variant is refused, and so is a plan without kernels") {
  Given given;
  Given again = given;
  again.task.module->source = given.written();
  CHECK_FALSE(write_cpp_variant(again.task, again.function, again.plan, {}).has_value());
  given.plan.steps.clear();
  CHECK_FALSE(write_cpp_variant(given.task, given.function, given.plan, {}).has_value());
}
