// Functions that the test of graphs compiles with LibTorch: what the text says that each computes must be what the compiled function is
// seen to do. They are ordinary code; nothing here is special to the test.
#include <torch/torch.h>
#include <tuple>
#include <vector>

namespace F = torch::nn::functional;
using torch::indexing::Slice;

// warpwright: x: float[4, 8], w: float[6, 8], b: float[6]
torch::Tensor linear_chain(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  return torch::softmax(torch::relu(torch::matmul(x, w.t()) + b), -1);
}

// warpwright: x: float[4, 8], y: float[8], n: int64[4, 8]
torch::Tensor arithmetic(const torch::Tensor &x, const torch::Tensor &y, const torch::Tensor &n) {
  auto a = 2 * x - 1.0 / (y.abs() + 0.5) + n;
  a = torch::where(a > 0, a, -a).clamp(0.1, 5.0).pow(2) + (n % 3 == 0).to(torch::kFloat);
  return a.masked_fill(n.gt(5), -1.0).sub(x, 0.5).div(y.square() + 1).sqrt();
}

// warpwright: x: float[4, 8]
torch::Tensor activations(torch::Tensor x) {
  auto y = torch::gelu(x) + torch::silu(x) * torch::tanh(x) +
           F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.2));
  y = y + F::elu(x, F::ELUFuncOptions().alpha(0.7)) + torch::softplus(x, 2.0, 10.0) +
      torch::hardtanh(x, -0.5, 0.5);
  y = y + torch::selu(x) + torch::log_sigmoid(x) + torch::hardswish(x) +
      torch::glu(torch::cat({x, y}, 1), 1);
  return F::softmin(y, F::SoftminFuncOptions(0)) + torch::log_softmax(x, 1);
}

// warpwright: x: float[4, 8, 6]
torch::Tensor views(torch::Tensor x) {
  auto a = x.transpose(1, 2).reshape({4, -1}).view({4, 6, 8}).permute({2, 0, 1});
  a = a.index({Slice(0, 8, 2), Slice(), 3}).unsqueeze(1).expand({4, 5, 4}).contiguous();
  auto parts = a.split(2, 1);
  auto pieces = x.chunk(3, 2);
  auto tail = torch::stack({pieces[0], pieces[2]}, 0).flatten(1).narrow(1, 2, 7).squeeze();
  return torch::cat({parts[0], parts[2]}, 1).sum() * tail.select(0, 1) +
         x[2].slice(0, 1, 8, 1).flip({0})[0].sum();
}

// warpwright: x: float[4, 8, 6]
std::tuple<torch::Tensor, torch::Tensor, torch::Tensor> reductions(const torch::Tensor &x) {
  auto [values, places] = x.max(1, true);
  auto spread = torch::var(x, at::IntArrayRef({0, 2}), true, false) +
                x.std(0, true, false).mean(0).sum() + torch::norm(x, 2) + x.amax({0, 1}).mean();
  auto other = x.argmax(1) + places.squeeze(1);
  return {values.logsumexp(2), spread + x.mean(-1).sum(1).prod(), other};
}

// warpwright: x: float[2, 6, 12, 12], w: float[9, 3, 3, 3], b: float[9], s: float[9], t: float[9]
torch::Tensor windows(torch::Tensor x, torch::Tensor w, torch::Tensor b, torch::Tensor s,
                      torch::Tensor t) {
  // two groups would need nine to be even: the first three channels
  auto y = torch::conv2d(x.slice(1, 0, 3), w, b, /*stride=*/1, /*padding=*/1);
  y = torch::batch_norm(y, s, t, /*running_mean=*/{}, /*running_var=*/{}, /*training=*/true, 0.1,
                        1e-5, false);
  y = torch::max_pool2d(torch::relu(y), 2);
  y = F::avg_pool2d(y, F::AvgPool2dFuncOptions(2).stride(1).padding(1));
  y = torch::group_norm(y, 3, s, t, 1e-5);
  return torch::adaptive_avg_pool2d(y, {1, 1}).flatten(1);
}

// warpwright: x: float[4, 8], s: float[8], t: float[8]
torch::Tensor normed(torch::Tensor x, torch::Tensor s, const c10::optional<torch::Tensor> &t,
                     double eps = 1e-5) {
  auto y = F::layer_norm(x, F::LayerNormFuncOptions({8}).weight(s).bias(t.value()).eps(eps));
  return y * torch::rsqrt(y.pow(2).mean(-1, true) + eps);
}

// warpwright: q: float[2, 3, 4, 8], k: float[2, 3, 5, 8], v: float[2, 3, 5, 8]
torch::Tensor attend(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
  auto scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt(static_cast<double>(q.size(-1)));
  return torch::matmul(torch::softmax(scores, -1), v).transpose(1, 2).contiguous().view({2, 4, -1});
}

// warpwright: x: float[4, 8], y: float[4, 8]
torch::Tensor in_place(torch::Tensor x, torch::Tensor y) {
  auto z = x.clone();
  z.add_(y, 2).mul_(0.5);
  z[1].zero_();
  z.slice(1, 2, 5).copy_(y.slice(1, 0, 3));
  auto total = torch::zeros({8}, x.options());
  for (int64_t i = 0; i < z.size(0); ++i)
    total += z[i] * static_cast<double>(i + 1);
  y.relu_();
  return total;
}

// warpwright: x: float[6, 5], c: int64[6] integers 0..5, y: float[6, 5] uniform
torch::Tensor losses(torch::Tensor x, torch::Tensor c, torch::Tensor y) {
  auto a = torch::mse_loss(x, y) + torch::l1_loss(x, y, at::Reduction::Sum);
  a = a + F::smooth_l1_loss(x, y) + torch::huber_loss(x, y, at::Reduction::Mean, 0.7) +
      F::mse_loss(x, y, F::MSELossFuncOptions(torch::kSum));
  return a + F::cross_entropy(x, c) + torch::binary_cross_entropy_with_logits(x, y).sum();
}

static torch::Tensor gate(const torch::Tensor &x, bool hard) {
  return hard ? torch::hardsigmoid(x) : torch::sigmoid(x);
}

// warpwright: x: float[4, 8], steps = 3, hard = 0
std::vector<torch::Tensor> recurrent(torch::Tensor x, int64_t steps, bool hard) {
  std::vector<torch::Tensor> states;
  torch::Tensor h = torch::zeros_like(x);
  const auto update = [&](const torch::Tensor &now) {
    return gate(now + h, hard) * torch::tanh(now);
  };
  for (int64_t i = 0; i < steps; ++i) {
    h = update(x * (i + 1));
    states.push_back(h);
  }
  return {torch::stack(states, 1), h};
}

// warpwright: x: float[4, 8], index: int64[3] integers 0..4
torch::Tensor picking(torch::Tensor x, torch::Tensor index) {
  auto a = x.index_select(0, index) + torch::embedding(x, index);
  auto b = torch::gather(x, 0, index.unsqueeze(1).expand({3, 8}));
  auto m = torch::tril(torch::ones({3, 3})) + torch::eye(3) +
           torch::arange(9, torch::kFloat).view({3, 3});
  return torch::matmul(m, a + b).cumsum(1) + torch::full({8}, 0.25) + torch::one_hot(index, 8);
}
