#include "tests/generator/torch_cpp/check_graph.h"

#include <doctest/doctest.h>

namespace warpwright::generator {

TEST_CASE("a chain of operators becomes its graph, with inputs as leaves") {
  CHECK(graph_text(R"(
// warpwright: x: float[8, 64], w: float[32, 64], b: float[32]
torch::Tensor f(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  return torch::softmax(torch::relu(torch::matmul(x, w.t()) + b), -1);
})") == "%x: f32[8,64] = input {torch_name=\"x\"}\n"
        "%w: f32[32,64] = input {torch_name=\"w\"}\n"
        "%b: f32[32] = input {torch_name=\"b\"}\n"
        "%permute_1: f32[64,32]@[1,64] = permute(%w) {dims=[1,0]}\n"
        "%matmul_1: f32[8,32] = matmul(%x, %permute_1)\n"
        "%add_1: f32[8,32] = add(%matmul_1, %b)\n"
        "%relu_1: f32[8,32] = relu(%add_1)\n"
        "%softmax_1: f32[8,32] = softmax(%relu_1) {dim=1}\n"
        "return %softmax_1\n");
}

TEST_CASE("numbers become constants of the tensor's dtype, and integers are promoted") {
  check_body(R"(
// warpwright: x: float[4], n: int64[4]
at::Tensor f(const at::Tensor &x, const at::Tensor &n) { return 2 * x + n / 3; })",
             R"(
    %constant_1: f32[] = constant {value=2.0}
    %mul_1: f32[4] = mul(%x, %constant_1)
    %cast_1: f32[4] = cast(%n)
    %constant_2: f32[] = constant {value=3.0}
    %div_1: f32[4] = div(%cast_1, %constant_2)
    %add_1: f32[4] = add(%mul_1, %div_1))");
}

TEST_CASE("shapes follow from checks, through helpers, macros and locals") {
  check_body(R"(
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
})",
             "%matmul_1: f64[4,8] = matmul(%x, %w)");
}

TEST_CASE("assertions of the C library are checks too") {
  check_body(R"(
#include <cassert>
torch::Tensor f(torch::Tensor x) {
  assert(x.dim() == 2 && x.size(1) == 6);
  assert(x.size(0) == 4);
  return x.exp();
})",
             "%exp_1: f32[4,6] = exp(%x)");
  check_refused(R"(
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) { assert(x.numel() > 4); return x; })",
                "an assertion of the function fails");
}

TEST_CASE("what neither comment nor checks say is asked for") {
  CHECK(graph_text("torch::Tensor f(torch::Tensor x, double p, int64_t n = 2) {"
                   " TORCH_CHECK(x.dim() == 2); return x * p * n; }") == "missing: x.shape, p");
}

TEST_CASE("functions of the file are inlined, loops unrolled, branches on shapes taken") {
  check_body(R"(
namespace {
torch::Tensor scaled(const torch::Tensor &x, double factor = 0.5) { return x * factor; }
}
// warpwright: x: float[2, 3]
torch::Tensor f(torch::Tensor x) {
  auto twice = [&](const torch::Tensor &t) { return scaled(t, 2.0); };
  for (int64_t i = 0; i < x.size(0); ++i)
    x = i == 1 ? twice(x) : scaled(x);
  if (x.size(1) % 2 == 0) {
    x = x.relu();
  } else {
    x = x.sigmoid();
  }
  return x;
})",
             R"(
    %constant_1: f32[] = constant {value=0.5}
    %mul_1: f32[2,3] = mul(%x, %constant_1)
    %constant_2: f32[] = constant {value=2.0}
    %mul_2: f32[2,3] = mul(%mul_1, %constant_2)
    %sigmoid_1: f32[2,3] = sigmoid(%mul_2))");
}

TEST_CASE("an expression that is given to a reference is its value, not its first operand") {
  check_body(R"(
static torch::Tensor halved(const torch::Tensor &x) { return x.relu(); }
// warpwright: x: float[4], y: float[4]
torch::Tensor f(torch::Tensor x, torch::Tensor y) { return halved(x * y); })",
             R"(
    %mul_1: f32[4] = mul(%x, %y)
    %relu_1: f32[4] = relu(%mul_1))");
}

TEST_CASE("writes in place reach what looks at the same memory") {
  check_body(R"(
// warpwright: x: float[4, 2]
torch::Tensor f(torch::Tensor x) {
  auto y = x.relu();
  auto row = y[1];
  y.add_(1.0);
  row.mul_(2.0);
  return y;
})",
             R"(
    %relu_1: f32[4,2] = relu(%x)
    %constant_1: f32[] = constant {value=1.0}
    %add_1: f32[4,2] = add(%relu_1, %constant_1)
    %slice_2: f32[1,2] = slice(%add_1) {dim=0, start=1, step=1, stop=2}
    %reshape_2: f32[2] = reshape(%slice_2)
    %constant_2: f32[] = constant {value=2.0}
    %mul_1: f32[2] = mul(%reshape_2, %constant_2)
    %slice_3: f32[1,2] = slice(%add_1) {dim=0, start=0, step=1, stop=1}
    %reshape_3: f32[1,2] = reshape(%mul_1)
    %slice_4: f32[2,2] = slice(%add_1) {dim=0, start=2, step=1, stop=4}
    %cat_1: f32[4,2] = cat(%slice_3, %reshape_3, %slice_4) {dim=0})");
}

TEST_CASE("an input that is written to becomes an update") {
  const std::string text = graph_text(R"(
// warpwright: x: float[4], y: float[4]
torch::Tensor f(torch::Tensor x, torch::Tensor y) {
  x += y;
  return x.sum();
})");
  CHECK(text.find("update %x = %add_1") != std::string::npos);
}

TEST_CASE("tuples, structured bindings and lists of tensors hold tensors") {
  check_body(R"(
// warpwright: x: float[4, 6]
std::tuple<torch::Tensor, torch::Tensor> f(const torch::Tensor &x) {
  auto [values, places] = torch::max(x, 1, true);
  std::vector<torch::Tensor> parts = x.chunk(2, 1);
  torch::Tensor a, b;
  std::tie(a, b) = std::make_tuple(parts[0], parts.back());
  return {torch::cat({a, b, values}, 1), std::get<0>(x.min(0))};
})",
             R"(
    %amax_1: f32[4,1] = amax(%x) {dims=[1], keepdim=true}
    %slice_1: f32[4,3]@[6,1] = slice(%x) {dim=1, start=0, step=1, stop=3}
    %slice_2: f32[4,3]@[6,1] = slice(%x) {dim=1, start=3, step=1, stop=6}
    %cat_1: f32[4,7] = cat(%slice_1, %slice_2, %amax_1) {dim=1}
    %amin_1: f32[6] = amin(%x) {dims=[0], keepdim=false})");
}

TEST_CASE("the functional forms of torch::nn are the operators that they call") {
  check_body(R"(
namespace F = torch::nn::functional;
// warpwright: x: float[2, 3, 8, 8], w: float[4, 3, 3, 3]
torch::Tensor f(torch::Tensor x, torch::Tensor w) {
  x = F::conv2d(x, w, F::Conv2dFuncOptions().stride(2).padding(1));
  x = F::max_pool2d(x, F::MaxPool2dFuncOptions(2));
  return F::softmax(F::gelu(x), F::SoftmaxFuncOptions(1));
})",
             R"(
    %conv_1: f32[2,4,4,4] = conv(%x, %w) {dilation=[1,1], groups=1, output_padding=[0,0], padding=[1,1], stride=[2,2], transposed=false}
    %max_pool_1: f32[2,4,2,2] = max_pool(%conv_1) {ceil=false, dilation=[1,1], kernel=[2,2], padding=[0,0], stride=[2,2]}
    %gelu_1: f32[2,4,2,2] = gelu(%max_pool_1) {approximate="none"}
    %softmax_1: f32[2,4,2,2] = softmax(%gelu_1) {dim=1})");
}

TEST_CASE("optional tensors are given or not, as the comment says") {
  const std::string function = R"(
torch::Tensor f(torch::Tensor x, const c10::optional<torch::Tensor> &b) {
  if (b.has_value())
    return x + b.value();
  return x.neg();
})";
  check_body("// warpwright: x: float[4]" + function, "%neg_1: f32[4] = neg(%x)");
  check_body("// warpwright: x: float[4], b: float[4]" + function, "%add_1: f32[4] = add(%x, %b)");
}

TEST_CASE("indexing selects and slices") {
  check_body(R"(
using namespace torch::indexing;
// warpwright: x: float[4, 5, 6]
torch::Tensor f(torch::Tensor x) { return x.index({Slice(1, 3), "...", 2}); })",
             R"(
    %slice_1: f32[2,5,6] = slice(%x) {dim=0, start=1, step=1, stop=3}
    %slice_2: f32[2,5,1]@[30,6,1] = slice(%slice_1) {dim=2, start=2, step=1, stop=3}
    %reshape_1: f32[2,5] = reshape(%slice_2))");
}

TEST_CASE("what depends on data, is random or is not known is refused with its line") {
  check_refused(R"(
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) {
  if (x.sum().item<float>() > 0)
    return x;
  return -x;
})",
                "line 4: the condition 'x.sum().item<float>() > 0' cannot be decided");
  check_refused(R"(
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) { return x + torch::rand({4}); })",
                "random");
  check_refused(R"(
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) {
  auto y = torch::fft_fft(x);
  return x + y;
})",
                "line 4: 'auto y = torch::fft_fft(x)'");
  check_refused(R"(
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) {
  return (x + torch::special_entr(x)).exp();
})",
                "line 5: what f returns cannot be read");
  check_refused(R"(
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) { TORCH_CHECK(x.size(0) == 5); return x; })",
                "a check of the function fails");
  check_refused(R"(
// warpwright: x: float[4]
torch::Tensor f(torch::Tensor x) { return x.matmul(x.view({2, 2})); })",
                "matmul");
}

TEST_CASE("registered functions and those that nobody calls are found, helpers are not") {
  const std::string helper = "torch::Tensor g(torch::Tensor x) { return x; }\ntorch::Tensor "
                             "f(torch::Tensor x) { return g(x); }\n";
  CHECK(graph_text(helper) == "missing: x.shape");
  CHECK(graph_text(helper + "torch::Tensor h(torch::Tensor x) { return x; }") == "2 functions");
  CHECK(graph_text(helper + "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"g\", &g); }") ==
        "missing: x.shape");
  const std::string launching = "__global__ void k(float *);\nvoid start(torch::Tensor x) { k<<<1, "
                                "32>>>(x.data_ptr<float>()); }\n"
                                "torch::Tensor own(torch::Tensor x) { start(x); return x; }\n";
  CHECK(graph_text(launching) == "0 functions");
  CHECK(graph_text(launching + helper) == "missing: x.shape");
  CHECK(graph_text("// warpwright: x: float[\ntorch::Tensor f(torch::Tensor x) { return x; }") ==
        "missing: spec, x.shape");
}

} // namespace warpwright::generator
