// Interface of the builtin policy's transformer, in plain types: users need no LibTorch header.
//
// The network is decoder-only: token embedding (tied to the output); per layer RMSNorm, causal attention with rotary
// positions, RMSNorm and SwiGLU; a last RMSNorm. With a few million parameters at most, it needs no dropout, biases,
// mixed precision or activation checkpointing. This header and its implementation are C++17, because Clang accepts
// LibTorch 1.13's headers only in that mode; hence no Result. LibTorch's exceptions (such as out of memory) derive from
// std::exception; `main` catches them and ends the stage, whose last checkpoint stays. Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct NetworkShape {
  int vocabulary = 0, width = 128, layers = 4, heads = 4, context = 512;
};

/// A token to learn: imitated, or reinforced by its sequence's advantage.
struct Target {
  int position = 0;         ///< in the sequence, at least 1; predicted from the tokens before
  int token = -1;           ///< to learn; -1: the sequence's token at this position
  std::vector<int> allowed; ///< the sampling mask, which holds the token; empty: all tokens
  bool reinforced = false;
  float weight = 0;                     ///< of its loss in the sum; the caller normalizes
  float advantage = 0;                  ///< only for reinforced targets, as the next two
  float old_log = 0, reference_log = 0; ///< log probabilities: when sampled; of the reference
};

struct Sequence {
  std::vector<int> tokens; ///< at most `context`
  std::vector<Target> targets;
};

struct StepOptions {
  double learning_rate = 3e-4, weight_decay = 0.01, gradient_clip = 1.0;
  double temperature = 1.0;                       ///< of reinforced targets' probabilities
  double clip_low = 0.2, clip_high = 0.2, kl = 0; ///< ratios clipped to [1 - low, 1 + high]
};

/// Report of one optimizer step. `loss` is the weighted sum of the targets' losses; `gradient_norm` is before clipping;
/// the other values are means over targets, or 0 without targets.
struct StepReport {
  double loss = 0, gradient_norm = 0;
  double imitation_loss = 0,
         imitation_accuracy = 0;           ///< share with the target as likeliest allowed token
  double kl = 0, entropy = 0, clipped = 0; ///< of reinforced targets
  std::int64_t imitated = 0, reinforced = 0, tokens = 0;
};

struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values; ///< float32, row-major
};

/// State of decoding: a prompt and the tokens after it.
class Decoding {
public:
  virtual ~Decoding() = default;
  /// Log probabilities of `allowed` as the next token, normalized over them.
  virtual std::vector<float> log_probabilities(const std::vector<int> &allowed,
                                               double temperature) = 0;
  virtual void push(int token) = 0;
  virtual int length() const = 0;
  /// An independent copy, made without reading the prompt again.
  virtual std::unique_ptr<Decoding> fork() const = 0;
};

/// Interface for sampling: a Network, or inference without LibTorch (trainer/inference/plain_network.h).
class Decoder {
public:
  virtual ~Decoder() = default;
  virtual const NetworkShape &shape() const = 0;
  /// @param prompt 1..context tokens
  virtual std::unique_ptr<Decoding> decode(const std::vector<int> &prompt) = 0;
};

class Network : public Decoder {
public:
  /// @param device "cpu", "cuda", "cuda:1"
  static std::unique_ptr<Network> make(const NetworkShape &shape, std::uint64_t seed,
                                       const std::string &device);

  /// Log probability of each target's token, sequence after sequence.
  virtual std::vector<float> log_probabilities(const std::vector<Sequence> &batch,
                                               double temperature) = 0;
  /// One optimizer step (AdamW) on the weighted sum of the targets' losses. Gradients are averaged over the processes
  /// of a run, so every process must call it.
  virtual StepReport train(const std::vector<Sequence> &batch, const StepOptions &options) = 0;

  /// Weights ("layer.0.attention", ...) and, on request, the optimizer's state ("adam.m.layer.0...", ...).
  virtual std::vector<NamedTensor> tensors(bool with_optimizer) const = 0;
  /// Loads tensors that tensors() returned. Missing optimizer state is reset to zero.
  /// @return the first tensor that is missing or does not fit; empty: none
  virtual std::string take(const std::vector<NamedTensor> &tensors) = 0;
  /// Number of optimizer steps so far.
  virtual std::int64_t steps() const = 0;
  virtual void set_steps(std::int64_t steps) = 0;
};

/// Processes that torchrun started, from its environment variables (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT).
struct World {
  int rank = 0, size = 1;
};
/// Joins the processes with NCCL on GPUs, or with Gloo on CPUs. Without torchrun the world is this process alone.
/// @param problem receives the reason if joining failed; the world is then one process
World join_world(const std::string &device, std::string &problem);
/// Means over the world; with one process, the values themselves.
std::vector<double> average_over_world(const std::vector<double> &values);

/// "LibTorch 1.13.1, 8 CPU threads".
std::string describe_libtorch();
void set_threads(int threads);

} // namespace warpwright::trainer
