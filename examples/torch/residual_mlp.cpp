// A LibTorch program with a torch::nn::Module as people write them: residual blocks of two linear layers behind a normalisation.
//
// `warpwright optimize examples/torch/residual_mlp.cpp` finds versions of the network's forward that do its steps in fewer kernels, checks
// each against an object of this class, compiled, and measures it where there is a GPU. `--apply` writes the best into forward.
#include <torch/torch.h>

#include <iostream>

struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t width, int64_t hidden)
      : norm(torch::nn::LayerNormOptions({width})), expand(width, hidden), shrink(hidden, width) {
    register_module("norm", norm);
    register_module("expand", expand);
    register_module("shrink", shrink);
  }
  torch::Tensor forward(const torch::Tensor &x) {
    return x + shrink(torch::gelu(expand(norm(x))));
  }

  torch::nn::LayerNorm norm;
  torch::nn::Linear expand, shrink;
};
TORCH_MODULE(Block);

// warpwright: x: float[2048, 256] normal
struct ResidualMlpImpl : torch::nn::Module {
  ResidualMlpImpl(int64_t width, int64_t depth, double temperature = 0.5)
      : temperature_(temperature) {
    for (int64_t i = 0; i < depth; ++i)
      blocks->push_back(Block(width, 2 * width));
    register_module("blocks", blocks);
    scale = register_parameter("scale", torch::ones({width}));
  }
  torch::Tensor forward(torch::Tensor x);

private:
  torch::nn::ModuleList blocks;
  torch::Tensor scale;
  double temperature_;
};
TORCH_MODULE(ResidualMlp);

torch::Tensor ResidualMlpImpl::forward(torch::Tensor x) {
  for (size_t i = 0; i < blocks->size(); ++i)
    x = blocks->at<BlockImpl>(i).forward(x);
  return torch::softmax(x * scale / temperature_, -1);
}

int main() {
  torch::NoGradGuard no_gradients;
  ResidualMlp network(256, 2);
  network->eval();
  const torch::Device device(torch::cuda::is_available() ? torch::kCUDA : torch::kCPU);
  network->to(device);
  const auto x = torch::randn({2048, 256}, device);
  std::cout << network->forward(x).sum(1).slice(0, 0, 4) << '\n';
}
