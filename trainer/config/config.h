// What a run of the trainer is told, from one TOML file: every key with its default, one struct a table.
//
// The file is read strictly: an unknown key, a wrong type or a value out of range is refused with its name and line.
// `describe_config` prints all of it, defaults included, so that a log holds what a run was made with. Tables of other
// folders ([endpoint], [report]) are read by them with the same TableReader (table_reader.h). Thread: values, any.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct RunConfig {
  std::uint64_t seed = 1;     ///< of all drawings
  std::string out = "run";    ///< folder of checkpoints and logs
  std::string device = "cpu"; ///< of the network: "cpu", "cuda", "cuda:1"
  int threads = 0;            ///< of LibTorch on a CPU; 0: its own choice
};

struct TasksConfig {
  std::vector<std::string> suites; ///< as tasks/task_sources.h takes them; empty: the shipped suite
  std::vector<std::string> families;                  ///< empty: all
  std::vector<std::string> kinds = {"cuda", "torch"}; ///< kernels, and modules
  int shapes = 1;                                     ///< drawn of each task for a split
  int at_most = 0; ///< of each split, evenly over families; 0: all
};

struct EnvironmentConfig {
  std::string mode = "recorded";    ///< or "live"
  std::vector<std::string> records; ///< files to replay; live: the first one is appended to
  bool measure_misses = false;      ///< recorded: measure what is missing, where a runner is there
  std::string warpwright = "warpwright"; ///< executable with `env`; beside this one, or on the path
  std::string runner;                    ///< URL as in runner/client/client.h; empty: start one
  std::string device;                    ///< of the runner: "cuda:0", "cpu"; empty: its best
  int measure_budget_ms = 300;           ///< for one candidate
  int in_flight = 8;                     ///< candidates at the runner at once
  int env_processes = 2;
};

/// Of the builtin policy; fixed when its weights are first made.
struct NetworkConfig {
  int width = 128, layers = 4, heads = 4, context = 512; ///< context in tokens
};

struct CollectConfig {
  /// Taken in turn; "builtin" too.
  std::vector<std::string> strategies = {"dense", "random", "evolve"};
  std::vector<std::string> splits = {"training", "validation", "held-out"};
  int trials = 32;     ///< measured candidates a task
  int longest = 6;     ///< moves of a candidate
  int deepest = 2;     ///< moves of a candidate of "dense"
  int seconds = 0;     ///< stop cleanly after; 0: when done
  std::string weights; ///< of "builtin"
};

struct SftConfig {
  int steps = 1000, batch = 16;
  double learning_rate = 3e-4, weight_decay = 0.01;
  int warmup = 50, checkpoint_every = 100;
  double top = 0.1;           ///< imitated: verified within this share of a task's best log speedup
  double hidden_scores = 0.5; ///< of prompts, in which exemplars come without their scores
  std::string weights;        ///< to start from; empty: new ones
};

struct SelfsupConfig {
  int rounds = 10, proposals = 256, steps = 50,
      batch = 16; ///< a round: propose, verify, keep, train
  double learning_rate = 1e-4, temperature = 1.0;
  std::string weights;
};

struct RlConfig {
  std::string variant =
      "contrastive"; ///< or "grpo"; "evolve", "random": no learning, the same trials
  int steps = 500, groups = 8, group_size = 8; ///< a step: groups of proposals to one prompt each
  int updates = 2;                             ///< gradient steps a step
  double learning_rate = 1e-4, clip_low = 0.2, clip_high = 0.2, kl = 0.02, temperature = 1.0;
  double bucket_temperature = 0.5; ///< of exemplars: softmax over the means of score buckets
  int buckets = 8;
  double reward_clip = 3;       ///< after rolling normalisation, standard deviations
  double confirm_above = 3;     ///< speedups over this are measured again in a fresh worker
  double analysis_weight = 0.1; ///< of the supervised loss on analysis tokens
  int best_of = 1;        ///< advantages are for the best of so many answers; 1: for each answer
  bool adversary = false; ///< live: submit the adversary suite beside the policy's answers
  int checkpoint_every = 10;
  std::string weights;
};

struct EvalConfig {
  std::vector<std::string> policies = {
      "random", "evolve", "builtin"}; ///< "builtin:WEIGHTS" too; "random@16": at most 16 trials
  std::vector<int> k = {1, 2, 4, 8, 16, 32, 64};
  std::string split = "held-out";
  int repeats = 3;          ///< seeds a task
  int reference_trials = 0; ///< of random search, whose best the results are shares of; 0: none
  double temperature = 1.0;
  std::string weights;
};

struct Config {
  std::string path;
  RunConfig run;
  TasksConfig tasks;
  EnvironmentConfig environment;
  NetworkConfig network;
  CollectConfig collect;
  SftConfig sft;
  SelfsupConfig selfsup;
  RlConfig rl;
  EvalConfig eval;
};

/// Errors: the file, the line, the key and what is allowed: "train.toml:12: rl.clip_low is -1; write a number in 0..1".
/// @param settings "rl.variant = \"grpo\"" each, which win over the file; from the command line
Result<Config> load_config(const std::string &path, const std::vector<std::string> &settings = {});
Result<Config> parse_config(const std::string &text, const std::string &path,
                            const std::vector<std::string> &settings = {});

/// As TOML, with every key.
std::string describe_config(const Config &config);

} // namespace warpwright::trainer
