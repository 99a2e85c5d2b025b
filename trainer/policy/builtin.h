// Builtin policy: a transformer that gives an analysis and then moves; a mask admits only legal tokens.
//
// A rollout is an answer together with the data for learning from it: tokens, masks and log probabilities.
// Thread: one at a time.
#pragma once

#include "trainer/network/network.h"
#include "trainer/policy/policy.h"
#include "trainer/policy/prompt.h"
#include "trainer/tokens/vocabulary.h"

#include <random>

namespace warpwright::trainer {

struct Rollout {
  Sequence sequence; ///< prompt and answer; a target for each token of the answer, weights 0
  Proposal proposal;
  /// Index into sequence.targets of the answers to: which was faster, which move explains it, what limits it.
  int analysis_targets = 0;
  int move_targets = 0; ///< index of the first target that chose a move; the analysis precedes it
};

struct SamplingOptions {
  double temperature = 1.0;       ///< below 0.02: always the likeliest token
  int longest = 6;                ///< moves
  bool ignores_exemplars = false; ///< for a policy that was trained without exemplars
  PromptOptions prompt;
};

/// A prompt that was read once and serves any number of answers.
class PromptReading {
public:
  /// Errors: as Environment::state().
  static Result<PromptReading> read(Decoder &network, const Vocabulary &vocabulary,
                                    const Context &context, Environment &environment,
                                    const PromptOptions &options);
  Result<Rollout> answer(const Context &context, Environment &environment,
                         const SamplingOptions &options, std::mt19937_64 &random) const;

private:
  const Vocabulary *vocabulary_ = nullptr;
  int context_tokens_ = 0; ///< of the network
  std::vector<int> prompt_;
  std::unique_ptr<Decoding> decoding_;
};

/// Sequence of a known answer, for imitation. `truth` gives the analysis; its absent members get no target.
/// Errors: as Environment::state().
Result<Sequence> imitation_sequence(const Vocabulary &vocabulary, int context_tokens,
                                    const Context &context, Environment &environment,
                                    const PromptOptions &options, const Moves &moves,
                                    const struct AnalysisTruth &truth, float analysis_weight);

class BuiltinPolicy final : public Policy {
public:
  /// @param network, vocabulary not shared with concurrent callers
  BuiltinPolicy(std::shared_ptr<Decoder> network, std::shared_ptr<const Vocabulary> vocabulary,
                SamplingOptions options, std::uint64_t seed);
  std::string_view name() const override { return "builtin"; }
  Result<Proposal> propose(const Context &context, Environment &environment) override;

private:
  std::shared_ptr<Decoder> network_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  SamplingOptions options_;
  std::mt19937_64 random_;
};

} // namespace warpwright::trainer
