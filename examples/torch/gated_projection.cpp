// A PyTorch C++ extension as people write them: a gated linear layer with a normalisation behind it, every step a call of ATen.
//
// Each call is a kernel of its own and a round trip through memory. `warpwright optimize examples/torch/gated_projection.cpp` finds
// versions that do them in fewer, checks each against this function, compiled, and measures it where there is a GPU.
#include <torch/extension.h>

#define CHECK_INPUT(x) TORCH_CHECK((x).is_contiguous(), #x " must be contiguous")

namespace {

torch::Tensor rms_norm(const torch::Tensor &x, const torch::Tensor &scale, double eps) {
  const auto mean_of_squares = x.pow(2).mean(-1, /*keepdim=*/true);
  return x * torch::rsqrt(mean_of_squares + eps) * scale;
}

} // namespace

// warpwright: rows = 4096
// warpwright: x: float[rows, 512] normal, scale: float[1024] positive
torch::Tensor gated_projection(torch::Tensor x, torch::Tensor weight, torch::Tensor gate,
                               torch::Tensor bias, torch::Tensor scale, double eps = 1e-6) {
  CHECK_INPUT(x);
  CHECK_INPUT(weight);
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 2, "x and weight are matrices");
  const auto features = scale.size(0);
  TORCH_CHECK(weight.size(0) == features && weight.size(1) == x.size(1), "weight does not fit x");
  TORCH_CHECK(gate.sizes() == weight.sizes(), "gate is as large as weight");
  TORCH_CHECK(bias.dim() == 1 && bias.size(0) == features, "bias has one element a feature");
  auto value = torch::addmm(bias, x, weight.t());
  auto opened = torch::sigmoid(torch::matmul(x, gate.t()));
  return rms_norm(value * opened, scale, eps);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("gated_projection", &gated_projection, "Gated linear layer, normalised");
}
