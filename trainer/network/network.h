// The builtin policy's transformer behind plain types: no header of LibTorch is needed to use it.
//
// Decoder-only: token embedding (tied to the output), per layer RMSNorm, causal attention with rotary positions, RMSNorm, SwiGLU; a last RMSNorm.
// Leaves out dropout, biases, mixed precision and activation checkpointing: it has a few million parameters at most.
// This header and its implementation are C++17, because Clang takes LibTorch 1.13's headers only as such; hence no Result. LibTorch's
// exceptions (out of memory among them) derive from std::exception and end the stage in `main`, whose checkpoint stays.
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct NetworkShape {
  int vocabulary = 0, width = 128, layers = 4, heads = 4, context = 512;
};

/// One token of a sequence that is learned: imitated, or reinforced by its sequence's advantage.
struct Target {
  int position = 0; ///< of the token in the sequence, from 1 on: predicted from those before
  int token = -1;   ///< to learn; -1: the one that the sequence has there
  std::vector<int> allowed; ///< the mask it was sampled under, holds the token; empty: all tokens
  bool reinforced = false;
  float weight = 0;                     ///< of its loss in the sum; the caller normalises
  float advantage = 0;                  ///< reinforced only, as the next two
  float old_log = 0, reference_log = 0; ///< log probabilities: when sampled, of the reference
};

struct Sequence {
  std::vector<int> tokens; ///< at most `context`
  std::vector<Target> targets;
};

struct StepOptions {
  double learning_rate = 3e-4, weight_decay = 0.01, gradient_clip = 1.0;
  double temperature = 1.0;                       ///< of reinforced targets' probabilities
  double clip_low = 0.2, clip_high = 0.2, kl = 0; ///< the ratio stays in [1 - low, 1 + high]
};

/// Means over targets; those of reinforced ones are 0 where there are none.
struct StepReport {
  double loss = 0, gradient_norm = 0;
  double imitation_loss = 0,
         imitation_accuracy = 0;           ///< accuracy: the likeliest allowed token is it
  double kl = 0, entropy = 0, clipped = 0; ///< of reinforced targets
  std::int64_t imitated = 0, reinforced = 0, tokens = 0;
};

struct NamedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values; ///< float32, row-major
};

/// A prompt that was read, and what was sampled after it.
class Decoding {
public:
  virtual ~Decoding() = default;
  /// Log probabilities of `allowed` as the next token, normalised over them.
  virtual std::vector<float> log_probabilities(const std::vector<int> &allowed,
                                               double temperature) = 0;
  virtual void push(int token) = 0;
  virtual int length() const = 0;
  /// Goes on separately; the prompt is not read again.
  virtual std::unique_ptr<Decoding> fork() const = 0;
};

/// What answering takes: a Network, or inference without LibTorch (trainer/inference/plain_network.h).
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
  /// One optimiser step (AdamW) on the weighted sum of the targets' losses; gradients are averaged over the processes of a run.
  virtual StepReport train(const std::vector<Sequence> &batch, const StepOptions &options) = 0;

  /// Weights ("layer.0.attention", ...) and, where asked for, the optimiser's state ("adam.m.layer.0...", ...).
  virtual std::vector<NamedTensor> tensors(bool with_optimizer) const = 0;
  /// Takes what tensors() gave; missing optimiser state starts afresh.
  /// @return what does not fit, empty when all does
  virtual std::string take(const std::vector<NamedTensor> &tensors) = 0;
  /// Of optimiser steps taken.
  virtual std::int64_t steps() const = 0;
  virtual void set_steps(std::int64_t steps) = 0;
};

/// The processes that torchrun started, by its environment variables (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT).
struct World {
  int rank = 0, size = 1;
};
/// Joins them: NCCL where the device is a GPU and LibTorch has it, else Gloo. Alone without torchrun.
/// @param problem why they could not be joined; the world is then one process
World join_world(const std::string &device, std::string &problem);
/// The mean over the world; the values themselves when alone.
std::vector<double> average_over_world(const std::vector<double> &values);

/// "LibTorch 1.13.1", and the CPU threads it uses.
std::string describe_libtorch();
void set_threads(int threads);

} // namespace warpwright::trainer
