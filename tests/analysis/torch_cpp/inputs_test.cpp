#include "tests/analysis/torch_cpp/task_text.h"

#include <doctest/doctest.h>

namespace warpwright::analysis {

TEST_CASE("a comment says what a function is called with") {
  CHECK(task_text(R"(
// warpwright: x: float[8, 64], n: int64[4], p = 0.5, hard = 1
torch::Tensor f(torch::Tensor x, const at::Tensor &n, double p, bool hard) { return x * p + n; }
)") == "f [torch.randn([8, 64]), torch.randint(0, 10, [4]).to(torch.int64), 0.5, True]\n");
}

TEST_CASE("shapes and dtypes follow from checks, through helpers, macros and locals") {
  CHECK(task_text(R"(
#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
static void check_matrix(const torch::Tensor &t) { TORCH_CHECK(t.dim() == 2, "a matrix"); }
torch::Tensor f(torch::Tensor x, torch::Tensor w) {
  CHECK_INPUT(x);
  check_matrix(x);
  TORCH_CHECK(w.sizes() == torch::IntArrayRef({16, 8}) && w.scalar_type() == torch::kFloat64);
  const auto columns = w.size(0);
  TORCH_CHECK(x.size(-1) == columns, "x has ", x.size(1));
  TORCH_CHECK(x.size(0) == 4);
  TORCH_CHECK(x.scalar_type() == w.scalar_type());
  return x.matmul(w);
})") == "f [torch.randn([4, 16]).to(torch.float64), torch.randn([16, 8]).to(torch.float64)]\n");
}

TEST_CASE("assertions of the C library are checks too") {
  CHECK(task_text(R"(
#include <cassert>
torch::Tensor f(torch::Tensor x) {
  assert(x.dim() == 2 && x.size(1) == 6);
  assert(x.size(0) == 4);
  return x.exp();
})") == "f [torch.randn([4, 6])]\n");
}

TEST_CASE("what neither comment nor checks say is asked for") {
  CHECK(task_text("torch::Tensor f(torch::Tensor x, double p, int64_t n = 2) {"
                  " TORCH_CHECK(x.dim() == 2); return x * p * n; }") == "f missing: x.shape, p\n");
}

TEST_CASE("default arguments are constants of the file, and what running would tell is asked for") {
  CHECK(task_text(R"(
constexpr int64_t kWidth = 6;
const double kScale = 1.0 / 4;
enum Mode { kPlain, kHard };
constexpr int64_t twice(int64_t n) { return 2 * n; }
int64_t running();
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x, int64_t n = kWidth * 2 - 1, double scale = -kScale, int mode = kHard,
                bool hard = !false, int64_t m = twice(4), double whole = 3, c10::optional<torch::Tensor> b = c10::nullopt) {
  return x;
})") == "f [torch.randn([4]), 11, -0.25, 1, True, 8, 3.0, None]\n");
  CHECK(task_text("int64_t running();\n// warpwright: x: float[4]\n"
                  "torch::Tensor f(torch::Tensor x, int64_t n = running()) { return x; }") ==
        "f missing: n\n");
}

TEST_CASE("optional tensors are given or not, as the comment says") {
  const std::string function = R"(
torch::Tensor f(torch::Tensor x, const c10::optional<torch::Tensor> &b) { return x; })";
  CHECK(task_text("// warpwright: x: float[4]" + function) == "f [torch.randn([4]), None]\n");
  CHECK(task_text("// warpwright: x: float[4], b: half[4]" + function) ==
        "f [torch.randn([4]), torch.randn([4]).to(torch.float16)]\n");
}

TEST_CASE("registered functions and those that nobody calls are found, helpers are not") {
  const std::string helper = "torch::Tensor g(torch::Tensor x) { return x; }\ntorch::Tensor "
                             "f(torch::Tensor x) { return g(x); }\n";
  CHECK(task_text(helper) == "f missing: x.shape\n");
  CHECK(task_text(helper + "torch::Tensor h(torch::Tensor x) { return x; }") ==
        "f missing: x.shape\nh missing: x.shape\n");
  CHECK(task_text(helper + "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"g\", &g); }") ==
        "g missing: x.shape\n");
  const std::string launching = "__global__ void k(float *);\nvoid start(torch::Tensor x) { k<<<1, "
                                "32>>>(x.data_ptr<float>()); }\n"
                                "torch::Tensor own(torch::Tensor x) { start(x); return x; }\n";
  CHECK(task_text(launching).empty());
  CHECK(task_text(launching + helper) == "f missing: x.shape\n");
  CHECK(task_text("// warpwright: x: float[\ntorch::Tensor f(torch::Tensor x) { return x; }") ==
        "f missing: spec, x.shape\n");
}

} // namespace warpwright::analysis
