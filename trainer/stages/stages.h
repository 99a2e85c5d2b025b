// The stages as functions. Each is one readable loop in its own file, logs JSON lines, writes its checkpoints atomically and goes on
// from the last one when it is started again with the same folder. Thread: main.
#pragma once

#include "trainer/stages/workplace.h"

namespace warpwright::trainer {

/// Search over tasks, every verdict into the first file of environment.records.
Result<void> run_collect(const Config &config, const Surroundings &surroundings);
/// Imitation of the verified best of each recorded task.
Result<void> run_sft(const Config &config, const Surroundings &surroundings);
/// Propose, verify, keep what was verified, train.
Result<void> run_selfsup(const Config &config, const Surroundings &surroundings);
/// Contrastive reinforcement learning, and the variants of its ablation.
Result<void> run_rl(const Config &config, const Surroundings &surroundings);
/// Best of k on a split, for a list of policies.
Result<void> run_eval(const Config &config, const Surroundings &surroundings);

} // namespace warpwright::trainer
