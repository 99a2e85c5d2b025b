// Configuration of a trainer run, from one TOML file: one struct per table, with the default of every key.
//
// The file is read strictly: an unknown key, a wrong type or a value out of range is refused with its name and line.
// `describe_config` prints every key, defaults included, so that logs hold the full configuration. Tables of other
// folders ([endpoint], [report]) are read there, with the same TableReader (table_reader.h). Thread: values, any.
#pragma once

#include "support/error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace warpwright::trainer {

struct RunConfig {
  std::uint64_t seed = 1;     ///< of all random draws
  std::string out = "run";    ///< folder of checkpoints and logs
  std::string device = "cpu"; ///< of the network: "cpu", "cuda", "cuda:1"
  int threads = 0;            ///< of LibTorch on a CPU; 0: its own choice
};

struct TasksConfig {
  std::vector<std::string> suites;   ///< sources (tasks/task_sources.h); empty: the shipped suite
  std::vector<std::string> families; ///< empty: all
  std::vector<std::string> kinds = {"cuda", "torch"}; ///< kernels, and modules
  int shapes = 1;                                     ///< shapes drawn per task and split
  int at_most = 0; ///< tasks per split, evenly over families; 0: all
};

struct EnvironmentConfig {
  std::string mode = "recorded";         ///< or "live"
  std::vector<std::string> records;      ///< files to replay; live: the first one is appended to
  bool measure_misses = false;           ///< recorded: a runner measures missing verdicts
  std::string warpwright = "warpwright"; ///< executable for `env`: beside this one, or on the PATH
  std::string runner;                    ///< URL as in runner/client/client.h; empty: start one
  std::string device;                    ///< of the runner: "cuda:0", "cpu"; empty: the best one
  int measure_budget_ms = 300;           ///< for one candidate
  int in_flight = 8;                     ///< candidates at the runner at once
  int env_processes = 2;
};

/// Network of the builtin policy; fixed when weights are created.
struct NetworkConfig {
  int width = 128, layers = 4, heads = 4, context = 512; ///< context in tokens
};

struct CollectConfig {
  /// Used in turn; "builtin" is allowed too.
  std::vector<std::string> strategies = {"dense", "random", "evolve"};
  std::vector<std::string> splits = {"training", "validation", "held-out"};
  int trials = 32;     ///< measured candidates per task
  int longest = 6;     ///< most moves of a candidate
  int deepest = 2;     ///< most moves of a candidate of "dense"
  int seconds = 0;     ///< time limit for a clean stop; 0: none
  std::string weights; ///< of "builtin"
};

struct SftConfig {
  int steps = 1000, batch = 16;
  double learning_rate = 3e-4, weight_decay = 0.01;
  int warmup = 50, checkpoint_every = 100;
  double top = 0.1;           ///< imitated: verified within this share of a task's best log speedup
  double hidden_scores = 0.5; ///< share of prompts that hide the exemplars' scores
  std::string weights;        ///< initial weights; empty: new ones
};

struct SelfsupConfig {
  int rounds = 10, proposals = 256, steps = 50,
      batch = 16; ///< one round: propose, verify, keep, train
  double learning_rate = 1e-4, temperature = 1.0;
  std::string weights;
};

struct RlConfig {
  std::string variant =
      "contrastive"; ///< or "grpo"; "evolve", "random": the same trials without learning
  int steps = 500, groups = 8, group_size = 8; ///< per step: groups of proposals, one prompt each
  int updates = 2;                             ///< gradient updates per step
  double learning_rate = 1e-4, clip_low = 0.2, clip_high = 0.2, kl = 0.02, temperature = 1.0;
  double bucket_temperature = 0.5; ///< of the softmax over means of score buckets (exemplar choice)
  int buckets = 8;
  double confirm_above = 3;     ///< larger speedups are measured again in a fresh worker
  double analysis_weight = 0.1; ///< of the supervised loss on analysis tokens
  int best_of = 1;              ///< advantages reward the best of this many answers; 1: each answer
  bool adversary = false;       ///< live: also submit the adversary suite
  int checkpoint_every = 10;
  std::string weights;
};

struct EvalConfig {
  std::vector<std::string> policies = {
      "random", "evolve", "builtin"}; ///< "builtin:WEIGHTS" too; "random@16": at most 16 trials
  std::vector<int> k = {1, 2, 4, 8, 16, 32, 64};
  std::string split = "held-out";
  int repeats = 3;          ///< seeds per task
  int reference_trials = 0; ///< of random search; results are shares of its best; 0: none
  double temperature = 1.0;
  std::string weights;
};

/// The environment for programs that train language models (trainer/serve, docs/use/environment.md).
struct ServeConfig {
  std::string listen = "127.0.0.1:8000";
  std::string certificate, key; ///< PEM files; both: TLS
  std::string token_file;       ///< tokens of clients; needed where other machines can connect
  std::vector<std::string> splits = {"training"};
  std::string reward = "speedup"; ///< or "gain", "verified" (policy/reward.h)
  int turns = 1;                  ///< answers of an episode whose client asks for no other number
  int sessions = 64;              ///< WebSockets at a time
  int queue = 1024;               ///< steps of one client that wait at a time
  int keep_s = 900;               ///< an episode stays this long after its connection is lost
  bool host_code = false; ///< modules of PyTorch may be answered by modules, which are host code
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
  ServeConfig serve;
};

/// Errors: an unreadable file, or a key with its file, line and allowed values: "train.toml:12: rl.clip_low is no
/// number in 0..1".
/// @param settings from the command line, such as "rl.variant = \"grpo\""; they override the file
Result<Config> load_config(const std::string &path, const std::vector<std::string> &settings = {});
Result<Config> parse_config(const std::string &text, const std::string &path,
                            const std::vector<std::string> &settings = {});

/// The configuration as TOML, with every key.
std::string describe_config(const Config &config);

} // namespace warpwright::trainer
