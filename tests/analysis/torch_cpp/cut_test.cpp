// Functions over tensors that no trace can follow to the end: the statements before that become a function.
#include "analysis/torch_cpp/kernels.h"
#include "tests/analysis/torch_cpp/task_text.h"

#include <algorithm>
#include <doctest/doctest.h>

namespace warpwright::analysis {
namespace {

const std::string kFile = R"(#include <torch/torch.h>
#include <vector>

namespace scores {

// Counts the best classes.
// warpwright: x: float[64, 32], w: float[32, 10], least = 3
torch::Tensor counted(const torch::Tensor &x, torch::Tensor w, int64_t least) {
  TORCH_CHECK(x.size(1) == w.size(0));
  const auto rows = x.size(0);
  const auto classes = w.size(1), unused = rows;
  auto p = torch::softmax(torch::matmul(x, w), 1);
  auto [most, best] = p.max(1);
  auto share = 1.0 / rows;
  // Their size depends on the values.
  auto counts = torch::bincount(best, {}, least);
  return counts * share + most.sum();
}

} // namespace scores
)";

std::string with(std::string text, const std::string &what, const std::string &by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

FileFacts facts_of(const std::string &text) {
  FileFacts facts;
  add_torch_functions({"/scores.cpp", text}, {}, facts);
  return facts;
}

std::string only_kernel(const std::string &text) {
  const FileFacts facts = facts_of(text);
  return facts.kernels.size() == 1 ? facts.kernels[0].name
                                   : std::to_string(facts.kernels.size()) + " kernels";
}

} // namespace

TEST_CASE("statements before an operator whose result depends on values become a function") {
  const FileFacts facts = facts_of(kFile);
  REQUIRE(facts.kernels.size() == 1);
  const Kernel &kernel = facts.kernels[0];
  CHECK(kernel.name == "counted_before");
  REQUIRE(kernel.task.inferred);
  CHECK(kernel.task.assumptions.back().starts_with("only the statements before bincount"));
  CHECK(kFile.substr(kernel.name_range.begin, kernel.name_range.size()) == "counted");
  REQUIRE(kernel.cut);
  const model::TorchModule &module = *kernel.task.task.module;
  CHECK(module.model == "scores::counted_before");
  CHECK(module.source.substr(kernel.cut->name_range.begin, kernel.cut->name_range.size()) ==
        "counted_before");
  CHECK(module.source == R"(#include <torch/torch.h>
#include <vector>

namespace scores {

// warpwright: x: float[64, 32], w: float[32, 10], least = 3
static std::tuple<at::Tensor, at::Tensor> counted_before(const torch::Tensor &x, torch::Tensor w, int64_t least) {
  TORCH_CHECK(x.size(1) == w.size(0));
  const auto rows = x.size(0);
  const auto classes = w.size(1), unused = rows;
  auto p = torch::softmax(torch::matmul(x, w), 1);
  auto [most, best] = p.max(1);
  auto share = 1.0 / rows;
  return {most, best};
}

// Counts the best classes.
// warpwright: x: float[64, 32], w: float[32, 10], least = 3
torch::Tensor counted(const torch::Tensor &x, torch::Tensor w, int64_t least) {
  at::Tensor most, best;
  std::tie(most, best) = counted_before(x, w, least);
  const auto rows = x.size(0);
  auto share = 1.0 / rows;
  // Their size depends on the values.
  auto counts = torch::bincount(best, {}, least);
  return counts * share + most.sum();
}

} // namespace scores
)");
  CHECK(only_kernel(module.source) == "counted_before");
}

TEST_CASE("a number read from a tensor ends the part, and one tensor is given as it is") {
  const std::string text = with(with(kFile, "auto counts = torch::bincount(best, {}, least);",
                                     "if (p.sum().item<float>() > 3)\n    return p;"),
                                "counts * share + most.sum()", "p * 2");
  const std::string part = facts_of(text).kernels.at(0).task.task.module->source;
  CHECK(part.find("static at::Tensor counted_before(") != std::string::npos);
  CHECK(part.find("  return p;\n}\n\n// Counts") != std::string::npos);
  CHECK(part.find("  at::Tensor p = counted_before(x, w, least);\n  // Their") !=
        std::string::npos);
}

TEST_CASE("a function is left whole where a part would mean something else or gain nothing") {
  CHECK(only_kernel(with(kFile, "torch::bincount(best, {}, least)", "torch::relu(most)")) ==
        "counted");
  for (const auto &[what, by] :
       {std::pair("auto share", "if (rows > 4) return w;\n  auto share"), // may end earlier
        {"auto p = torch::softmax", "w = w * 2;\n  auto p = torch::softmax"},
        {"auto p = torch::softmax", "w.mul_(2);\n  auto p = torch::softmax"},
        {"auto p = torch::softmax", "torch::NoGradGuard guard;\n  auto p = torch::softmax"},
        {"return counts", "most.add_(1);\n  return counts"}, // may be memory of a parameter
        {"return counts", "w.add_(1);\n  return counts"},    // likewise
        {"const auto rows = x.size(0);", "auto rows = x.size(0); rows += 2;"},
        {"torch::softmax(torch::matmul(x, w), 1)", "x"},
        {"auto share = 1.0 / rows;", "auto share = torch::zeros({2}).chunk(2);"},
        {"int64_t least) {", "int64_t least) noexcept {"}}) {
    CAPTURE(by);
    CHECK(only_kernel(with(kFile, what, by)) == "counted");
  }
}

TEST_CASE("a function of the user's with the name of a part hides nothing") {
  const std::string own = "torch::Tensor counted_before(torch::Tensor x);\n"
                          "torch::Tensor counted_before(torch::Tensor x) { return x + 1; }\n";
  const FileFacts facts =
      facts_of(with(kFile, "namespace scores {\n", "namespace scores {\n" + own));
  CHECK(std::ranges::count(facts.kernels, "counted", &Kernel::name) == 1);
}

} // namespace warpwright::analysis
