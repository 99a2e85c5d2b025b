// Reader and printer of configurations; both walk one list of fields per table.
#include "trainer/config/config.h"

#include "trainer/config/table_reader.h"

#include <fstream>
#include <iterator>
#include <sstream>

namespace warpwright::trainer {
namespace {

/// Printer of a table, with the same calls as TableReader.
class TablePrinter {
public:
  TablePrinter(std::ostringstream &out, const std::string &table) : out_(out) {
    out_ << "[" << table << "]\n";
  }
  template <class T>
  TablePrinter &read(const std::string &key, const T &value, auto... /*limits*/) {
    return line(key, shown(value));
  }
  TablePrinter &choose(const std::string &key, const std::string &value,
                       const std::vector<std::string> &) {
    return line(key, quoted(value));
  }

private:
  static std::string shown(const std::string &text) { return quoted(text); }
  static std::string shown(bool flag) { return flag ? "true" : "false"; }
  static std::string shown(int number) { return std::to_string(number); }
  static std::string shown(std::uint64_t number) { return std::to_string(number); }
  static std::string shown(double number) {
    std::ostringstream text;
    text << number;
    const bool whole = text.str().find_first_of(".e") == std::string::npos;
    return text.str() + (whole ? ".0" : "");
  }
  template <class T>
  static std::string shown(const std::vector<T> &values) {
    std::string text;
    for (const T &value : values)
      text += (text.empty() ? "" : ", ") + shown(value);
    return "[" + text + "]";
  }
  static std::string quoted(const std::string &text) {
    std::string result = "\"";
    for (char c : text)
      result += (c == '"' || c == '\\') ? std::string("\\") + c : std::string(1, c);
    return result + "\"";
  }
  TablePrinter &line(const std::string &key, const std::string &value) {
    out_ << key << " = " << value << "\n";
    return *this;
  }
  std::ostringstream &out_;
};

constexpr int kMany = 1'000'000'000;

/// Visits each table of a run with its name and its fields, for reading and for printing.
void each_table(auto &config, auto visit) {
  visit("run", config.run, [](auto &table, auto &run) {
    table.read("seed", run.seed)
        .read("out", run.out)
        .read("device", run.device)
        .read("threads", run.threads, 0, 1024);
  });
  visit("tasks", config.tasks, [](auto &table, auto &tasks) {
    table.read("suites", tasks.suites)
        .read("families", tasks.families)
        .read("kinds", tasks.kinds)
        .read("shapes", tasks.shapes, 1, 10'000)
        .read("at_most", tasks.at_most, 0, kMany);
  });
  visit("environment", config.environment, [](auto &table, auto &environment) {
    table.choose("mode", environment.mode, {"recorded", "live"})
        .read("records", environment.records)
        .read("measure_misses", environment.measure_misses)
        .read("warpwright", environment.warpwright)
        .read("runner", environment.runner)
        .read("device", environment.device)
        .read("measure_budget_ms", environment.measure_budget_ms, 1, 600'000)
        .read("in_flight", environment.in_flight, 1, 1024)
        .read("env_processes", environment.env_processes, 1, 64);
  });
  visit("network", config.network, [](auto &table, auto &network) {
    table.read("width", network.width, 8, 4096)
        .read("layers", network.layers, 1, 64)
        .read("heads", network.heads, 1, 64)
        .read("context", network.context, 128, 8192);
  });
  visit("collect", config.collect, [](auto &table, auto &collect) {
    table.read("strategies", collect.strategies)
        .read("splits", collect.splits)
        .read("trials", collect.trials, 1, kMany)
        .read("deepest", collect.deepest, 1, 32)
        .read("longest", collect.longest, 1, 32)
        .read("seconds", collect.seconds, 0, kMany)
        .read("weights", collect.weights);
  });
  visit("sft", config.sft, [](auto &table, auto &sft) {
    table.read("steps", sft.steps, 1, kMany)
        .read("batch", sft.batch, 1, 4096)
        .read("learning_rate", sft.learning_rate, 0, 1)
        .read("weight_decay", sft.weight_decay, 0, 1)
        .read("warmup", sft.warmup, 0, kMany)
        .read("checkpoint_every", sft.checkpoint_every, 1, kMany)
        .read("top", sft.top, 0, 1)
        .read("hidden_scores", sft.hidden_scores, 0, 1)
        .read("weights", sft.weights);
  });
  visit("selfsup", config.selfsup, [](auto &table, auto &selfsup) {
    table.read("rounds", selfsup.rounds, 1, kMany)
        .read("proposals", selfsup.proposals, 1, kMany)
        .read("steps", selfsup.steps, 1, kMany)
        .read("batch", selfsup.batch, 1, 4096)
        .read("learning_rate", selfsup.learning_rate, 0, 1)
        .read("temperature", selfsup.temperature, 0.01, 100)
        .read("weights", selfsup.weights);
  });
  visit("rl", config.rl, [](auto &table, auto &rl) {
    table.choose("variant", rl.variant, {"contrastive", "grpo", "evolve", "random"})
        .read("steps", rl.steps, 1, kMany)
        .read("groups", rl.groups, 1, 4096)
        .read("group_size", rl.group_size, 2, 4096)
        .read("updates", rl.updates, 1, 64)
        .read("learning_rate", rl.learning_rate, 0, 1)
        .read("clip_low", rl.clip_low, 0, 1)
        .read("clip_high", rl.clip_high, 0, 10)
        .read("kl", rl.kl, 0, 100)
        .read("temperature", rl.temperature, 0.01, 100)
        .read("bucket_temperature", rl.bucket_temperature, 0.001, 1000)
        .read("buckets", rl.buckets, 2, 1000)
        .read("confirm_above", rl.confirm_above, 1, 1e9)
        .read("analysis_weight", rl.analysis_weight, 0, 10)
        .read("best_of", rl.best_of, 1, 4096)
        .read("adversary", rl.adversary)
        .read("checkpoint_every", rl.checkpoint_every, 1, kMany)
        .read("weights", rl.weights);
  });
  visit("eval", config.eval, [](auto &table, auto &eval) {
    table.read("policies", eval.policies)
        .read("k", eval.k)
        .choose("split", eval.split, {"training", "validation", "held-out"})
        .read("repeats", eval.repeats, 1, 1000)
        .read("reference_trials", eval.reference_trials, 0, kMany)
        .read("temperature", eval.temperature, 0.01, 100)
        .read("weights", eval.weights);
  });
  visit("serve", config.serve, [](auto &table, auto &serve) {
    table.read("listen", serve.listen)
        .read("certificate", serve.certificate)
        .read("key", serve.key)
        .read("token_file", serve.token_file)
        .read("splits", serve.splits)
        .choose("reward", serve.reward, {"speedup", "gain", "verified"})
        .read("turns", serve.turns, 1, 64)
        .read("sessions", serve.sessions, 1, 4096)
        .read("queue", serve.queue, 1, 65'536)
        .read("keep_s", serve.keep_s, 1, 86'400)
        .read("host_code", serve.host_code);
  });
}

Result<void> read_tables(const TomlFile &file, Config &config) {
  TRY(file.allow({"run", "tasks", "environment", "network", "collect", "sft", "selfsup", "rl",
                  "eval", "serve", "endpoint", "report"}));
  Result<void> result;
  each_table(config, [&](const std::string &name, auto &target, auto fields) {
    if (!result)
      return;
    TableReader reader(file, name);
    fields(reader, target);
    result = reader.finish();
  });
  return result;
}

} // namespace

Result<Config> parse_config(const std::string &text, const std::string &path,
                            const std::vector<std::string> &settings) {
  auto file = TRY(TomlFile::parse(text, path));
  for (const std::string &setting : settings)
    TRY(file.set(setting));
  Config config;
  config.path = path;
  TRY(read_tables(file, config));
  if (config.network.width % (2 * config.network.heads) != 0)
    return fail(path + ": network.width is not a multiple of twice network.heads",
                "Rotary positions turn pairs of numbers within a head");
  return config;
}

Result<Config> load_config(const std::string &path, const std::vector<std::string> &settings) {
  if (path.empty())
    return parse_config("", "the command line", settings);
  std::ifstream input(path, std::ios::binary);
  if (!input)
    return fail("cannot read " + path, "Name a TOML file with --config");
  return parse_config({std::istreambuf_iterator<char>(input), {}}, path, settings);
}

std::string describe_config(const Config &config) {
  std::ostringstream out;
  each_table(config, [&](const std::string &name, const auto &source, auto fields) {
    TablePrinter printer(out, name);
    fields(printer, source);
    out << "\n";
  });
  return out.str();
}

} // namespace warpwright::trainer
