// Main program of `warpwright-train`: reads the command line and the configuration, and runs one stage.
//
// The same source also builds `warpwright-collect`, without LibTorch. That program has only the stages that need no
// network. It is one file that depends only on glibc, so it can collect on GPU machines without LibTorch.
// Exit codes: 0 done, 1 the stage failed or was stopped, 2 wrong arguments.
#include "support/build/build_description.h"
#include "trainer/cli/policies.h"
#include "trainer/cli/propose.h"
#include "trainer/config/config.h"
#include "trainer/ranker/ranker_command.h"
#include "trainer/report/report_command.h"
#include "trainer/serve/export_command.h"
#include "trainer/serve/serve_command.h"
#include "trainer/stages/stages.h"
#include "trainer/stages/stop.h"
#include "trainer/tasks/split_names.h"
#include "trainer/tasks/tasks_command.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <unistd.h>

namespace {

using namespace warpwright;
using namespace warpwright::trainer;

#ifdef WARPWRIGHT_LIBTORCH
constexpr const char *kProgramName = "warpwright-train";
#else
constexpr const char *kProgramName = "warpwright-collect";
#endif

enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2 };

struct Stage {
  const char *name, *help;
  Result<void> (*run)(const Config &, const Surroundings &);
};
constexpr Stage kStages[] = {
    {"collect", "Search over the tasks and keep every verdict", run_collect},
#ifdef WARPWRIGHT_LIBTORCH
    {"sft", "Learn the verified best of each recorded task by imitation", run_sft},
    {"selfsup", "Propose, verify, keep what was verified, learn it", run_selfsup},
    {"rl", "Contrastive reinforcement learning", run_rl},
#endif
    {"eval", "Best of k candidates of policies and strategies", run_eval},
    {"serve", "Environment for other trainers: OpenEnv and NeMo Gym", run_serve},
};

struct Options {
  std::string config, environment, out, variant, weights;
  std::vector<std::string> settings, records;
  std::vector<std::pair<std::string, std::string>> serve; ///< keys of [serve], with values as TOML
  std::string seed, policy = "builtin";
  bool quiet = false, prints = false;
};

void add_options(CLI::App &command, Options &options) {
  command.add_option("--config", options.config,
                     "TOML file; without one all keys have their defaults");
  command.add_option("--set", options.settings, "One key, as rl.steps=100; wins over the file")
      ->allow_extra_args(false);
  command.add_option("--env", options.environment, "recorded or live: environment.mode");
  command.add_option("--records", options.records, "Files of verdicts: environment.records");
  command.add_option("--out", options.out, "Folder of checkpoints and logs: run.out");
  command.add_option("--seed", options.seed, "run.seed");
  command.add_flag("--quiet", options.quiet, "No progress bar");
  command.add_flag("--print-config", options.prints, "Print the configuration and end");
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text)
    result += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  return result + "\"";
}

/// Settings from --set, followed by the settings that the other options stand for.
std::vector<std::string> settings_of(const Options &options, const std::string &stage) {
  std::vector<std::string> settings = options.settings;
  const auto text = [&](const std::string &key, const std::string &value) {
    if (!value.empty())
      settings.push_back(key + " = " + quoted(value));
  };
  text("environment.mode", options.environment);
  text("run.out", options.out);
  text("rl.variant", options.variant);
  for (const auto &[key, value] : options.serve)
    settings.push_back("serve." + key + " = " + value);
  if (!options.weights.empty())
    text(stage + ".weights", options.weights);
  if (!options.seed.empty())
    settings.push_back("run.seed = " + options.seed);
  if (!options.records.empty()) {
    std::string list;
    for (const std::string &path : options.records)
      list += (list.empty() ? "" : ", ") + quoted(path);
    settings.push_back("environment.records = [" + list + "]");
  }
  return settings;
}

/// Gives each process that torchrun started on this host its own GPU and its own file for verdicts.
void take_own_part(Config &config) {
  const char *rank = std::getenv("LOCAL_RANK"), *size = std::getenv("LOCAL_WORLD_SIZE");
  if (!rank || !size || std::string_view(size) == "1")
    return;
  EnvironmentConfig &environment = config.environment;
  if (config.run.device == "cuda")
    config.run.device = std::string("cuda:") + rank;
  if (environment.device == "cuda")
    environment.device = std::string("cuda:") + rank;
  if ((environment.mode != "live" && !environment.measure_misses) ||
      std::string_view(rank) == "0" || environment.records.empty())
    return;
  const std::string shared = environment.records.front();
  environment.records.front() += std::string(".rank") + rank;
  if (std::filesystem::exists(shared)) // verdicts of earlier runs
    environment.records.insert(environment.records.begin() + 1, shared);
}

int run_stage(const Stage &stage, const Options &options) {
  auto config = load_config(options.config, settings_of(options, stage.name));
  if (!config) {
    std::cerr << "warpwright-train: " << describe(config.error()) << "\n";
    return kUsage;
  }
  take_own_part(*config);
  if (options.prints) {
    std::cout << describe_config(*config);
    return kOk;
  }
  if (!options.quiet)
    std::cerr << describe_config(*config);
  const std::stop_source stop = stop_on_signals();
  Surroundings surroundings{stop.get_token(), options.quiet, make_policy};
  auto done = stage.run(*config, surroundings);
  if (!done) {
    std::cerr << "warpwright-train " << stage.name << ": " << describe(done.error()) << "\n";
    return kFailed;
  }
  if (stop.stop_requested())
    std::cerr << "warpwright-train " << stage.name << ": stopped; the same command goes on\n";
  if (std::string_view(stage.name) == "serve")
    return kOk; // it has no other end
  return stop.stop_requested() ? kFailed : kOk;
}

void add_report(CLI::App &app, ReportOptions &report) {
  CLI::App *command = app.add_subcommand("report", "One page and TensorBoard files of runs' logs");
  command->add_option("runs", report.runs, "Folders that stages wrote to (run.out)")->required();
  command->add_option("--page", report.page, "The page; default: report.html");
  command->add_option("--tensorboard", report.tensorboard,
                      "Folder of the event files; default: tensorboard next to the page");
  command->add_option("--title", report.title, "Of the page");
  command->add_flag("--quiet", report.quiet, "Say nothing");
}

void add_tasks(CLI::App &app, TasksOptions &tasks) {
  CLI::App *command =
      app.add_subcommand("tasks", "Show the tasks of suites, benchmarks and folders");
  command->add_option("sources", tasks.choice.sources, "Default: the suite that ships");
  command
      ->add_option_function<std::string>(
          "--split", [&tasks](const std::string &text) { tasks.choice.split = *split_named(text); },
          "training, validation or held-out")
      ->check(CLI::IsMember({"training", "validation", "held-out"}));
  command->add_option("--variations", tasks.choice.variations, "Shapes of each task of a suite")
      ->check(CLI::Range(1, 1000));
  command->add_option("--at-most", tasks.choice.at_most, "Tasks in all, evenly over families");
  command->add_option("--seed", tasks.choice.seed, "Of the shapes");
  command->add_option("--write", tasks.write, "Folder to write the sources to, at their shapes");
}

void add_ranker(CLI::App &app, RankerOptions &ranker) {
  CLI::App *command =
      app.add_subcommand("ranker", "Train the learned cost model on recorded verdicts, and replay them");
  command->add_option("--records", ranker.records, "Files of verdicts");
  command->add_option("--kernel-facts", ranker.kernel_facts, "File of the kernels' facts");
  command->add_option("--ask", ranker.ask, "Program `warpwright`: write the kernels' facts again");
  command->add_option("--excluded", ranker.excluded, "List of sources that no record may share");
  command->add_option("--exclude", ranker.exclude,
                      "Folders and files of benchmarks: write the list --excluded, and end");
  command->add_option("--out", ranker.out, "File of the weights");
  command->add_option("--report", ranker.report, "JSON file of replays: who finds what first");
  command->add_option("--sessions", ranker.sessions,
                      "Log of an evaluation; the report shows its tasks and policies too");
  command->add_option("--seed", ranker.seed, "Of the rows and features that a tree sees");
}

void add_serve(CLI::App &command, Options &options) {
  const auto add = [&](const std::string &option, const std::string &key, const std::string &help,
                       bool is_text) {
    command.add_option_function<std::string>(
        option,
        [&options, key, is_text](const std::string &value) {
          options.serve.emplace_back(key, is_text ? quoted(value) : value);
        },
        help)
        ->take_last();
  };
  add("--listen", "listen", "HOST:PORT; default: 127.0.0.1:8000", true);
  add("--cert", "certificate", "PEM file of the server's certificate: TLS", true);
  add("--key", "key", "PEM file of its key", true);
  add("--token-file", "token_file", "Tokens of clients, one a line: NAME TOKEN", true);
  add("--reward", "reward", "speedup, gain or verified", true);
  add("--turns", "turns", "Answers of an episode, unless the client asks for another number", false);
  add("--sessions", "sessions", "WebSockets at a time", false);
  command.add_flag_callback(
      "--host-code", [&options] { options.serve.emplace_back("host_code", "true"); },
      "Modules may be answered by modules, which are host code");
  command.add_option_function<std::string>(
      "--split", [&options](const std::string &value) {
        options.serve.emplace_back("splits", "[" + quoted(value) + "]");
      }, "training, validation or held-out; default: training");
}

void add_export(CLI::App &app, ExportOptions &chosen) {
  CLI::App *command =
      app.add_subcommand("export", "Write conversations of `serve` as training data for any trainer");
  command->add_flag("--chat", chosen.chat, "JSON lines of messages")->required();
  command->add_option("trajectories", chosen.files, "Files trajectories.jsonl")->required();
  command->add_option("--to", chosen.to, "The file to write; default: chat.jsonl");
  command->add_option("--best", chosen.best, "Answers of each task")->check(CLI::Range(1, 1000));
  command->add_option("--min-speedup", chosen.min_speedup, "Of the interval's lower end");
  command->add_flag("--pairs", chosen.pairs, "Pairs of a better and a worse answer to one prompt");
  command->add_option("--split", chosen.split, "Default: training")
      ->check(CLI::IsMember({"training", "validation", "held-out"}));
  command->add_option("--excluded", chosen.excluded, "List of sources that no example may share");
}

/// Runs `propose`: stdout carries only the protocol; stderr gets only failures.
int propose(const Options &options) {
  auto config = load_config(options.config, settings_of(options, "eval"));
  auto policy = config ? make_policy(*config, options.policy, config->run.seed)
                       : Result<std::unique_ptr<Policy>>(std::unexpected(config.error()));
  auto done = policy ? run_propose(*config, std::move(*policy))
                     : Result<void>(std::unexpected(policy.error()));
  if (!done)
    std::cerr << "warpwright-train propose: " << describe(done.error()) << "\n";
  return done ? kOk : kFailed;
}

int run(int argc, char **argv) {
  CLI::App app("Trains the policy that proposes kernels, and judges it");
  app.set_version_flag("--version", version_line(kProgramName));
  app.require_subcommand(1);
  Options options;
  ReportOptions report;
  add_report(app, report);
  TasksOptions tasks;
  add_tasks(app, tasks);
  RankerOptions ranker;
  add_ranker(app, ranker);
  ExportOptions exported;
  add_export(app, exported);
  for (const Stage &stage : kStages) {
    CLI::App *command = app.add_subcommand(stage.name, stage.help);
    add_options(*command, options);
    if (std::string_view(stage.name) == "rl")
      command->add_option("--variant", options.variant, "contrastive, grpo, evolve or random");
    if (std::string_view(stage.name) == "serve")
      add_serve(*command, options);
    else if (std::string_view(stage.name) != "collect")
      command->add_option("--weights", options.weights, "Weights to start from, or to judge");
  }
  CLI::App *proposes = app.add_subcommand("propose", "Serve a policy over JSON-RPC on stdio");
  add_options(*proposes, options);
  proposes->add_option("--policy", options.policy, "builtin, endpoint:URL#MODEL, random or evolve")
      ->capture_default_str();
  proposes->add_option("--weights", options.weights, "Weights of the builtin policy");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  for (const Stage &stage : kStages)
    if (app.got_subcommand(stage.name))
      return run_stage(stage, options);
  if (*proposes)
    return propose(options);
  const std::string name = app.get_subcommands().front()->get_name();
  const auto done = name == "report"   ? run_report(report)
                    : name == "ranker" ? run_ranker(ranker)
                    : name == "export" ? run_export(exported)
                                       : run_tasks(tasks);
  if (!done)
    std::cerr << "warpwright-train " << name << ": " << describe(done.error()) << "\n";
  return done ? kOk : kFailed;
}

#ifdef WARPWRIGHT_LIBTORCH
/// Sets OPENBLAS_CORETYPE and restarts this program. OpenBLAS picks old kernels for CPUs whose model numbers it does
/// not know, and it reads the variable before main.
void choose_blas_kernels(char **argv) {
  if (std::getenv("OPENBLAS_CORETYPE") || !__builtin_cpu_supports("avx2"))
    return;
  setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512f") ? "SKYLAKEX" : "HASWELL", 1);
  execv("/proc/self/exe", argv); // returns only on failure; the program then runs, but slower
}
#endif

} // namespace

int main(int argc, char **argv) {
#ifdef WARPWRIGHT_LIBTORCH
  choose_blas_kernels(argv);
#endif
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run(argc, argv);
  } catch (const std::exception &error) { // thrown by libraries, such as out of memory
    std::cerr << "warpwright-train: " << error.what()
              << "\nwarpwright-train: the same command goes on from the last checkpoint\n";
    return kFailed;
  }
}
