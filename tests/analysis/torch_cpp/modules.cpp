// Modules that the test of graphs compiles with LibTorch, as functions.cpp's functions. They are ordinary code; nothing here is special to
// the test.
#include <torch/torch.h>
#include <vector>

namespace nn = torch::nn;

// warpwright: in = 8, hidden = 12, x: float[4, 8]
struct Perceptron : torch::nn::Module {
  Perceptron(int64_t in, int64_t hidden, double slope = 0.1)
      : first(register_module("first", nn::Linear(in, hidden))), slope_(slope) {
    second = register_module("second", nn::Linear(nn::LinearOptions(hidden, in).bias(false)));
    scale = register_parameter("scale", torch::randn({in}) * 0.02 + 1);
    torch::nn::init::xavier_uniform_(first->weight);
  }
  torch::Tensor forward(const torch::Tensor &x) {
    return second(torch::leaky_relu(first->forward(x), slope_)) * scale;
  }

private:
  nn::Linear first, second{nullptr};
  torch::Tensor scale;
  double slope_;
};

struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t channels, int64_t stride = 1)
      : conv(nn::Conv2dOptions(channels, channels, 3).stride(stride).padding(1).bias(false)),
        norm(nn::BatchNorm2dOptions(channels).eps(1e-3)) {
    register_module("conv", conv);
    register_module("norm", norm);
    if (stride != 1)
      shortcut = register_module(
          "shortcut", nn::Conv2d(nn::Conv2dOptions(channels, channels, 1).stride(stride)));
  }
  torch::Tensor forward(torch::Tensor x) {
    auto y = torch::relu(norm(conv(x)));
    return shortcut ? y + shortcut->forward(x) : y + x;
  }
  nn::Conv2d conv;
  nn::BatchNorm2d norm;
  nn::Conv2d shortcut{nullptr};
};
TORCH_MODULE(Block);

// warpwright: x: float[2, 3, 12, 12]
struct NetImpl : nn::Module {
  NetImpl(int64_t blocks = 2, std::vector<int64_t> widths = {6, 5}) {
    for (int64_t i = 0; i < blocks; ++i)
      blocks_->push_back(Block(3, i == 0 ? 2 : 1));
    register_module("blocks", blocks_);
    head = nn::Sequential(nn::Flatten(), nn::Dropout(0.3), nn::Linear(3 * 36, widths[0]),
                          nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({widths[0]})));
    head->push_back("out", nn::Linear(widths[0], widths[1]));
    register_module("head", head);
    steps = register_buffer("steps", torch::zeros({1}, torch::kFloat64));
  }
  torch::Tensor forward(torch::Tensor x) {
    for (size_t i = 0; i < blocks_->size(); ++i)
      x = blocks_->at<BlockImpl>(i).forward(x);
    steps += 1;
    if (is_training())
      return head->forward(x);
    return torch::softmax(head->forward(x), -1);
  }
  nn::ModuleList blocks_;
  nn::Sequential head;
  torch::Tensor steps;
};
TORCH_MODULE(Net);

class Base : public nn::Module {
public:
  explicit Base(int64_t width) {
    weight = register_parameter("weight", torch::ones({width, width}));
  }
  torch::Tensor weight;
};

// warpwright: x: float[4, 8], parts = 2
class Derived : public Base {
public:
  Derived(int64_t width, int64_t parts) : Base(width) {
    for (int64_t i = 0; i < parts; ++i) {
      layers.push_back(nn::Linear(width, width));
      register_module("layer" + std::to_string(i), layers.back());
    }
    layers[1]->weight = layers[0]->weight;
  }
  std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor x) {
    auto y = torch::matmul(x, torch::triu(weight));
    for (auto &layer : layers)
      y = layer(y).tanh();
    return {y, x.sum()};
  }
  std::vector<nn::Linear> layers;
};

inline void uses() { auto one = std::make_shared<Derived>(8, 3); }
