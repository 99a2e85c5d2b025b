// Sampling, losses and optimizer of the transformer.
#include "trainer/network/network.h"

#include "trainer/network/process_group.h"
#include "trainer/network/transformer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <cmath>
#include <limits>
#include <map>
#include <torch/version.h>

namespace warpwright::trainer {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.99, kAdamEpsilon = 1e-8;

class CachedDecoding final : public Decoding {
public:
  CachedDecoding(const Transformer &transformer, const std::vector<int> &prompt)
      : transformer_(transformer) {
    read(prompt);
  }
  CachedDecoding(const CachedDecoding &) = default;

  std::vector<float> log_probabilities(const std::vector<int> &allowed,
                                       double temperature) override {
    const c10::NoGradGuard no_gradients;
    const at::Tensor all = transformer_.logits(last_).squeeze(0).to(at::kCPU).contiguous(); // (V)
    const float *logits = all.data_ptr<float>();
    std::vector<float> result;
    float largest = -std::numeric_limits<float>::infinity();
    for (int token : allowed) {
      result.push_back(logits[token] / float(temperature));
      largest = std::max(largest, result.back());
    }
    double sum = 0;
    for (float value : result)
      sum += std::exp(double(value - largest));
    for (float &value : result)
      value -= largest + float(std::log(sum));
    return result;
  }
  void push(int token) override { read({token}); }
  int length() const override { return length_; }
  std::unique_ptr<Decoding> fork() const override {
    return std::make_unique<CachedDecoding>(*this); // shares its tensors, which never change
  }

private:
  void read(const std::vector<int> &tokens) {
    const c10::NoGradGuard no_gradients;
    const std::vector<std::int64_t> wide(tokens.begin(), tokens.end());
    const at::Tensor input = at::tensor(wide, at::kLong).unsqueeze(0).to(transformer_.device());
    const at::Tensor hidden = transformer_.hidden(input, &cache_);
    last_ = hidden.select(1, hidden.size(1) - 1);
    length_ += int(tokens.size());
  }

  const Transformer &transformer_;
  KeyValues cache_;
  at::Tensor last_; ///< (1, C)
  int length_ = 0;
};

/// All targets of a batch as tensors of N elements; `forbidden` is (N, V).
struct FlatTargets {
  at::Tensor place, token, forbidden, reinforced, weight, advantage, old_log, reference_log;
  std::int64_t count = 0, imitated = 0;
};

at::Tensor padded_tokens(const std::vector<Sequence> &batch) {
  std::size_t longest = 1;
  for (const Sequence &sequence : batch)
    longest = std::max(longest, sequence.tokens.size());
  at::Tensor tokens = at::zeros({std::int64_t(batch.size()), std::int64_t(longest)}, at::kLong);
  std::int64_t *row = tokens.data_ptr<std::int64_t>();
  for (const Sequence &sequence : batch) {
    std::copy(sequence.tokens.begin(), sequence.tokens.end(), row);
    row += longest;
  }
  return tokens;
}

FlatTargets flat_targets(const std::vector<Sequence> &batch, std::int64_t padded_length,
                         std::int64_t vocabulary, const at::Device &device) {
  std::vector<std::int64_t> places, tokens;
  std::vector<float> reinforced, weights, advantages, olds, references;
  std::vector<const Target *> all;
  for (std::size_t row = 0; row < batch.size(); ++row)
    for (const Target &target : batch[row].targets) {
      places.push_back(std::int64_t(row) * padded_length + target.position - 1);
      tokens.push_back(target.token >= 0 ? target.token
                                         : batch[row].tokens[std::size_t(target.position)]);
      reinforced.push_back(target.reinforced ? 1 : 0);
      weights.push_back(target.weight);
      advantages.push_back(target.advantage);
      olds.push_back(target.old_log);
      references.push_back(target.reference_log);
      all.push_back(&target);
    }
  FlatTargets flat;
  flat.count = std::int64_t(all.size());
  at::Tensor forbidden = at::zeros({flat.count, vocabulary}, at::kBool);
  bool *row = forbidden.data_ptr<bool>();
  for (const Target *target : all) {
    if (!target->allowed.empty()) {
      std::fill(row, row + vocabulary, true);
      for (int token : target->allowed)
        row[token] = false;
    }
    flat.imitated += !target->reinforced;
    row += vocabulary;
  }
  const auto floats = [&](const std::vector<float> &values) {
    return at::tensor(values, at::kFloat).to(device);
  };
  flat.place = at::tensor(places, at::kLong).to(device);
  flat.token = at::tensor(tokens, at::kLong).to(device);
  flat.forbidden = forbidden.to(device);
  flat.reinforced = floats(reinforced);
  flat.weight = floats(weights);
  flat.advantage = floats(advantages);
  flat.old_log = floats(olds);
  flat.reference_log = floats(references);
  return flat;
}

class TorchNetwork final : public Network {
public:
  TorchNetwork(const NetworkShape &shape, std::uint64_t seed, const std::string &device)
      : shape_(shape), transformer_(shape, seed, at::Device(device)) {
    for (const auto &parameter : transformer_.parameters()) {
      first_.push_back(at::zeros_like(parameter.tensor));
      second_.push_back(at::zeros_like(parameter.tensor));
    }
  }

  const NetworkShape &shape() const override { return shape_; }

  std::unique_ptr<Decoding> decode(const std::vector<int> &prompt) override {
    return std::make_unique<CachedDecoding>(transformer_, prompt);
  }

  std::vector<float> log_probabilities(const std::vector<Sequence> &batch,
                                       double temperature) override {
    const c10::NoGradGuard no_gradients;
    const Predicted predicted = predict(batch, temperature, true);
    const at::Tensor chosen = predicted.chosen.to(at::kCPU).contiguous();
    return {chosen.data_ptr<float>(), chosen.data_ptr<float>() + chosen.numel()};
  }

  StepReport train(const std::vector<Sequence> &batch, const StepOptions &options) override {
    StepReport report;
    const Predicted predicted = predict(batch, options.temperature, false);
    const at::Tensor loss = loss_of(predicted, options, report);
    for (auto &parameter : transformer_.parameters())
      parameter.tensor.mutable_grad() = at::Tensor();
    loss.backward();
    report.loss = loss.item<double>();
    for (const Sequence &sequence : batch)
      report.tokens += std::int64_t(sequence.tokens.size());
    update(options, report);
    return report;
  }

  std::vector<NamedTensor> tensors(bool with_optimizer) const override;
  std::string take(const std::vector<NamedTensor> &tensors) override;
  std::int64_t steps() const override { return steps_; }
  void set_steps(std::int64_t steps) override { steps_ = steps; }

private:
  struct Predicted {
    FlatTargets targets;
    at::Tensor all;    ///< (N, V) log probabilities under the mask
    at::Tensor chosen; ///< (N)
  };

  /// @param of_all the temperature applies to all targets, not only to reinforced ones
  Predicted predict(const std::vector<Sequence> &batch, double temperature, bool of_all) {
    const at::Tensor tokens = padded_tokens(batch);
    Predicted predicted{
        flat_targets(batch, tokens.size(1), shape_.vocabulary, transformer_.device()), {}, {}};
    const FlatTargets &targets = predicted.targets;
    const at::Tensor hidden = transformer_.hidden(tokens.to(transformer_.device()))
                                  .view({-1, shape_.width})
                                  .index_select(0, targets.place); // (N, C)
    const at::Tensor logits = transformer_.logits(hidden);         // (N, V)
    const at::Tensor warm = of_all ? at::ones_like(targets.reinforced) : targets.reinforced;
    const at::Tensor warmed = logits / (warm * (temperature - 1) + 1).unsqueeze(1);
    predicted.all = at::log_softmax(warmed.masked_fill(targets.forbidden, -1e30), -1);
    predicted.chosen = predicted.all.gather(1, targets.token.unsqueeze(1)).squeeze(1);
    return predicted;
  }

  static at::Tensor loss_of(const Predicted &predicted, const StepOptions &options,
                            StepReport &report) {
    const FlatTargets &t = predicted.targets;
    const at::Tensor &chosen = predicted.chosen;
    const at::Tensor imitated = 1 - t.reinforced;
    const at::Tensor ratio = at::exp((chosen - t.old_log) * t.reinforced);
    const at::Tensor bounded = ratio.clamp(1 - options.clip_low, 1 + options.clip_high);
    const at::Tensor gain = at::min(ratio * t.advantage, bounded * t.advantage);
    // Schulman's estimator of KL(policy || reference): exp(d) - d - 1 for d = log reference - log policy.
    const at::Tensor away = (t.reference_log - chosen) * t.reinforced;
    const at::Tensor divergence = at::exp(away) - away - 1;
    const at::Tensor loss =
        (t.weight * (imitated * -chosen + t.reinforced * (options.kl * divergence - gain))).sum();

    const c10::NoGradGuard no_gradients;
    report.imitated = t.imitated;
    report.reinforced = t.count - t.imitated;
    const double imitated_count = std::max<double>(1, double(t.imitated));
    const double reinforced_count = std::max<double>(1, double(t.count - t.imitated));
    const at::Tensor right = predicted.all.argmax(-1).eq(t.token).to(at::kFloat);
    const at::Tensor entropy = -(predicted.all.exp() * predicted.all).sum(-1);
    report.imitation_loss = (imitated * -chosen).sum().item<double>() / imitated_count;
    report.imitation_accuracy = (imitated * right).sum().item<double>() / imitated_count;
    report.kl = (t.reinforced * divergence).sum().item<double>() / reinforced_count;
    report.entropy = (t.reinforced * entropy).sum().item<double>() / reinforced_count;
    report.clipped =
        (t.reinforced * ratio.ne(bounded).to(at::kFloat)).sum().item<double>() / reinforced_count;
    return loss;
  }

  /// AdamW step (Loshchilov and Hutter 2019), after averaging gradients over the world and clipping their total norm.
  void update(const StepOptions &options, StepReport &report) {
    const c10::NoGradGuard no_gradients;
    std::vector<at::Tensor> gradients;
    for (auto &parameter : transformer_.parameters())
      gradients.push_back(parameter.tensor.grad());
    average_over_world(gradients);
    double squares = 0;
    for (const at::Tensor &gradient : gradients)
      squares += gradient.pow(2).sum().item<double>();
    report.gradient_norm = std::sqrt(squares);
    const double scale = std::min(1.0, options.gradient_clip / (report.gradient_norm + 1e-12));
    ++steps_;
    const double bias1 = 1 - std::pow(kBeta1, double(steps_));
    const double bias2 = 1 - std::pow(kBeta2, double(steps_));
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      auto &parameter = transformer_.parameters()[i];
      const at::Tensor gradient = gradients[i] * scale;
      first_[i].mul_(kBeta1).add_(gradient, 1 - kBeta1);
      second_[i].mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
      if (parameter.decays)
        parameter.tensor.mul_(1 - options.learning_rate * options.weight_decay);
      parameter.tensor.addcdiv_(first_[i], (second_[i] / bias2).sqrt_().add_(kAdamEpsilon),
                                -options.learning_rate / bias1);
    }
  }

  NetworkShape shape_;
  Transformer transformer_;
  std::vector<at::Tensor> first_, second_; ///< moments
  std::int64_t steps_ = 0;
};

NamedTensor named(const std::string &name, const at::Tensor &tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
  return {name,
          tensor.sizes().vec(),
          {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()}};
}

std::vector<NamedTensor> TorchNetwork::tensors(bool with_optimizer) const {
  std::vector<NamedTensor> result;
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const auto &parameter = transformer_.parameters()[i];
    result.push_back(named(parameter.name, parameter.tensor));
    if (with_optimizer) {
      result.push_back(named("adam.m." + parameter.name, first_[i]));
      result.push_back(named("adam.v." + parameter.name, second_[i]));
    }
  }
  return result;
}

std::string TorchNetwork::take(const std::vector<NamedTensor> &tensors) {
  const c10::NoGradGuard no_gradients;
  std::map<std::string, const NamedTensor *> by_name;
  for (const NamedTensor &tensor : tensors)
    by_name[tensor.name] = &tensor;
  const auto copy = [&](const std::string &name, at::Tensor target) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      return "there is no tensor " + name;
    if (found->second->shape != target.sizes().vec())
      return "tensor " + name + " has another shape";
    target.copy_(at::tensor(found->second->values, at::kFloat).view(target.sizes()));
    return std::string();
  };
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const auto &parameter = transformer_.parameters()[i];
    if (std::string problem = copy(parameter.name, parameter.tensor); !problem.empty())
      return problem;
    const bool has_moments = by_name.count("adam.m." + parameter.name) > 0;
    if (!has_moments) {
      first_[i].zero_();
      second_[i].zero_();
      continue;
    }
    std::string problem = copy("adam.m." + parameter.name, first_[i]);
    if (problem.empty())
      problem = copy("adam.v." + parameter.name, second_[i]);
    if (!problem.empty())
      return problem;
  }
  return {};
}

} // namespace

std::unique_ptr<Network> Network::make(const NetworkShape &shape, std::uint64_t seed,
                                       const std::string &device) {
  return std::make_unique<TorchNetwork>(shape, seed, device);
}

std::string describe_libtorch() {
  return "LibTorch " + std::string(TORCH_VERSION) + ", " + std::to_string(at::get_num_threads()) +
         " CPU threads";
}

void set_threads(int threads) {
  if (threads > 0)
    at::set_num_threads(threads);
}

} // namespace warpwright::trainer
