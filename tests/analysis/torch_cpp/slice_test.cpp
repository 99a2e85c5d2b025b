// The text whose hash says whether a measurement is of the code as it stands.
#include "tests/analysis/torch_cpp/task_text.h"

#include <doctest/doctest.h>

namespace warpwright::analysis {
namespace {

std::string slice(const std::string &snippet, const std::string &name) {
  for (const Kernel &kernel : torch_facts(snippet).kernels)
    if (kernel.name == name)
      return kernel.slice;
  return "no " + name;
}

const std::string kFunctions = R"(
constexpr double kScale = 0.5;
constexpr double kOther = 2;
#define HALVED(x) ((x) / 2)
static torch::Tensor scaled(torch::Tensor x) { return HALVED(x) * kScale; }
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) {
  return scaled(x);
}
// warpwright: x: float[4]
torch::Tensor g(torch::Tensor x) { return x * kOther; }
int main() { return 0; }
)";

std::string with(std::string text, const std::string &what, const std::string &by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

} // namespace

TEST_CASE("an edit of what a function depends on makes its measurements stale, another does not") {
  const std::string before = slice(kFunctions, "f");
  for (const auto &[what, by] : {std::pair("kScale = 0.5", "kScale = 0.25"), {"(x) / 2", "(x) / 4"},
                                 {"* kScale", "+ kScale"}, {"scaled(x);", "scaled(x).relu();"},
                                 {"float[4]", "float[8]"}})
    CHECK_MESSAGE(slice(with(kFunctions, what, by), "f") != before, what);
  for (const auto &[what, by] :
       {std::pair("kOther = 2", "kOther = 3"), {"x * kOther", "x + kOther"}, {"return 0", "return 1"},
        {"constexpr double kScale", "\n\nconstexpr double kScale"}, {"{\n  return scaled", "{\n    return  scaled"}})
    CHECK_MESSAGE(slice(with(kFunctions, what, by), "f") == before, what);
}

TEST_CASE("a function with a variant applied has the slice of the body that its user wrote") {
  const std::string applied = with(kFunctions, R"(torch::Tensor f(torch::Tensor x) {
  return scaled(x);
})", R"(torch::Tensor f_as_written(torch::Tensor x) {
  return scaled(x);
}

torch::Tensor f(torch::Tensor x) {
  if (auto results = ::warpwright_f::run({x}); !results.empty())
    return results[0];
  return f_as_written(x);
})");
  CHECK(slice("namespace warpwright_f {\nstd::vector<at::Tensor> run(const std::vector<at::Tensor> &);\n}\n" + applied, "f") ==
        slice(kFunctions, "f"));
}

TEST_CASE("a module with a variant applied has the slice of the class that its user wrote") {
  const std::string net = R"(
// warpwright: x: float[4], width = 4
struct Net : torch::nn::Module {
  explicit Net(int64_t width) {
    scale = register_parameter("scale", torch::ones({width}));
  }
  torch::Tensor forward(torch::Tensor x);
  torch::Tensor scale;
};
torch::Tensor Net::forward(torch::Tensor x) { return x * scale; }
)";
  std::string applied = "namespace warpwright_Net {\nstd::vector<at::Tensor> run(const std::vector<at::Tensor> &);\n}\n" + net;
  applied = with(applied, "  torch::Tensor forward(", "  torch::Tensor forward_as_written(torch::Tensor x);\n  torch::Tensor forward(");
  applied = with(applied, "width) {", "width) {\n    warpwright_made_as_verified_ = width == static_cast<std::decay_t<decltype(width)>>(4);");
  applied = with(applied, "scale;\n};", "scale;\n\n  bool warpwright_made_as_verified_ = false; // by its constructor's arguments\n};");
  applied = with(applied, "torch::Tensor Net::forward(torch::Tensor x) { return x * scale; }",
                 R"(torch::Tensor Net::forward_as_written(torch::Tensor x) { return x * scale; }

torch::Tensor Net::forward(torch::Tensor x) {
  if (!is_training() && warpwright_made_as_verified_) {
    if (auto results = ::warpwright_Net::run({x}); !results.empty())
      return results[0];
  }
  return forward_as_written(x);
})");
  CHECK(slice(applied, "Net") == slice(net, "Net"));
  CHECK(slice(with(net, "x * scale", "x + scale"), "Net") != slice(net, "Net"));
}

} // namespace warpwright::analysis
