#include "trainer/report/log_data.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace warpwright::trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string text_of(const json &line, const char *key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<double> number_of(const json &line, const char *key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? std::optional(found->get<double>())
                                                   : std::nullopt;
}

int count_of(const json &line, const char *key) {
  return static_cast<int>(number_of(line, key).value_or(0));
}

std::string moves_text(const json &line) {
  std::string text;
  for (const json &move : line.value("moves", json::array()))
    if (move.is_string())
      text += (text.empty() ? "" : ", ") + move.get<std::string>();
  return text;
}

/// Adds the lines of one log file to the training log.
class Reader {
public:
  Reader(TrainingLog &log, std::string folder) : log_(log), folder_(std::move(folder)) {}

  void read(const json &line) {
    const std::string event = text_of(line, "event");
    if (event == "start")
      start(line);
    else if (event == "step")
      step(line);
    else if (event == "proposal")
      proposal(line);
    else if (event == "cheat")
      log_.cheats.push_back(
          {folder_, text_of(line, "task"), moves_text(line), text_of(line, "message")});
    else if (event == "analysis")
      analysis(line);
    else if (event == "policy")
      account(line);
    else if (event == "best_of_k")
      best_of_k(line);
    else if (event == "paired")
      paired(line);
    else if (event == "done")
      stage_of(line).seconds = number_of(line, "seconds");
  }

private:
  StageLog &stage_of(const json &line) {
    const std::string stage = text_of(line, "stage");
    std::string variant = text_of(line, "variant");
    for (StageLog &known : log_.stages)
      if (known.folder == folder_ && known.stage == stage &&
          (variant.empty() || known.variant.empty() || known.variant == variant)) {
        if (known.variant.empty())
          known.variant = variant;
        return known;
      }
    log_.stages.push_back({.folder = folder_, .stage = stage, .variant = variant});
    return log_.stages.back();
  }

  void start(const json &line) {
    StageLog &stage = stage_of(line);
    ++stage.starts;
    const auto config = line.find("config");
    stage.config = config == line.end()  ? ""
                   : config->is_string() ? config->get<std::string>()
                                         : config->dump(2);
    const auto resumed = number_of(line, "resumed_from_step");
    std::erase_if(stage.steps, [&](const StepPoint &point) {
      return static_cast<double>(point.step) > resumed.value_or(0);
    });
  }

  void step(const json &line) {
    const auto number = number_of(line, "step");
    if (!number) {
      ++log_.unreadable;
      return;
    }
    StepPoint point{.step = static_cast<std::int64_t>(*number),
                    .time_s = seconds_of(text_of(line, "time"))};
    for (const auto &[key, value] : line.items())
      if (value.is_number() && key != "step")
        point.values[key] = value.get<double>();
    for (const auto &[name, count] : line.value("techniques", json::object()).items())
      if (count.is_number())
        point.techniques[name] = count.get<double>();
    std::vector<StepPoint> &steps = stage_of(line).steps;
    std::erase_if(steps, [&](const StepPoint &known) { return known.step >= point.step; });
    steps.push_back(std::move(point));
  }

  void proposal(const json &line) {
    const std::string outcome = text_of(line, "outcome");
    ++log_.outcomes[outcome.empty() ? "refused" : outcome];
    TaskBest &task = task_named(text_of(line, "task"));
    ++task.proposals;
    task.verified += outcome == "verified";
    // If a proposal was not timed, its best_speedup is a score, not a speedup.
    const auto speedup = outcome == "verified" ? number_of(line, "speedup") : std::nullopt;
    const auto value = speedup ? number_of(line, "best_speedup").value_or(*speedup) : speedup;
    log_.timed += speedup.has_value();
    const std::string policy = text_of(line, "policy");
    const std::string who = policy.empty() ? text_of(line, "stage") : policy;
    if (!value)
      return;
    double &known = task.best[who];
    known = std::max(known, *value);
  }

  TaskBest &task_named(const std::string &name) {
    const auto [found, fresh] = tasks_.try_emplace(name, log_.tasks.size());
    if (fresh) {
      const auto known = std::ranges::find(log_.tasks, name, &TaskBest::task);
      found->second = static_cast<std::size_t>(known - log_.tasks.begin());
      if (known == log_.tasks.end())
        log_.tasks.push_back({.task = name});
    }
    return log_.tasks[found->second];
  }

  void analysis(const json &line) {
    const auto question = [&](const std::string &name) {
      return AnalysisAccuracy::Question{number_of(line, (name + "_accuracy").c_str()),
                                        number_of(line, (name + "_chance").c_str()),
                                        count_of(line, (name + "_count").c_str())};
    };
    log_.analysis.push_back({folder_, text_of(line, "policy"), question("faster"),
                             question("bound"), question("move")});
  }

  void account(const json &line) {
    const std::string policy = text_of(line, "policy");
    auto known = std::ranges::find_if(log_.accounts, [&](const PolicyAccount &one) {
      return one.run == folder_ && one.policy == policy;
    });
    if (known == log_.accounts.end())
      known = log_.accounts.insert(known, {.run = folder_, .policy = policy});
    for (const auto &[kind, count] : line.value("answers", json::object()).items())
      if (count.is_number())
        known->answers[kind] += count.get<int>();
    for (const auto &[reason, count] : line.value("reasons", json::object()).items())
      if (count.is_number())
        known->reasons[reason] += count.get<int>();
    known->prompt_tokens += number_of(line, "prompt_tokens").value_or(0);
    known->answer_tokens += number_of(line, "answer_tokens").value_or(0);
    known->requests += number_of(line, "requests").value_or(0);
    known->retries += number_of(line, "retries").value_or(0);
    known->rate_limited += number_of(line, "rate_limited").value_or(0);
    known->estimated = known->estimated || line.value("estimated", json()) == json(true);
  }

  void best_of_k(const json &line) {
    const auto geomean = number_of(line, "geomean");
    if (!geomean)
      return;
    const BestOfK entry{folder_,
                        text_of(line, "policy"),
                        text_of(line, "device"),
                        count_of(line, "k"),
                        *geomean,
                        number_of(line, "low"),
                        number_of(line, "high"),
                        number_of(line, "success"),
                        number_of(line, "share_of_best"),
                        count_of(line, "tasks")};
    // The last run of an evaluation replaces earlier ones.
    std::erase_if(log_.best_of_k, [&](const BestOfK &known) {
      return known.run == folder_ && known.policy == entry.policy && known.k == entry.k;
    });
    log_.best_of_k.push_back(entry);
  }

  void paired(const json &line) {
    const auto ratio = number_of(line, "ratio");
    if (!ratio)
      return;
    const PairedRatio entry{folder_,
                            text_of(line, "policy"),
                            text_of(line, "against"),
                            count_of(line, "k"),
                            count_of(line, "tasks"),
                            *ratio,
                            number_of(line, "low").value_or(0),
                            number_of(line, "high").value_or(0)};
    const auto is_of = [&](const PairedRatio &known, const std::string &a, const std::string &b) {
      return known.run == folder_ && known.policy == a && known.against == b && known.k == entry.k;
    };
    // Evaluations log both directions of a pair; the page shows one.
    if (std::ranges::any_of(log_.paired, [&](const PairedRatio &known) {
          return is_of(known, entry.against, entry.policy);
        }))
      return;
    std::erase_if(log_.paired, [&](const PairedRatio &known) {
      return is_of(known, entry.policy, entry.against);
    });
    log_.paired.push_back(entry);
  }

  TrainingLog &log_;
  std::string folder_;
  std::map<std::string, std::size_t> tasks_;
};

/// Labels the stages, such as "rl contrastive"; equal labels get their folder as a suffix.
void name_stages(std::vector<StageLog> &stages) {
  std::map<std::string, int> uses;
  const auto plain = [](const StageLog &stage) {
    return stage.variant.empty() ? stage.stage : stage.stage + " " + stage.variant;
  };
  for (const StageLog &stage : stages)
    ++uses[plain(stage)];
  for (StageLog &stage : stages)
    stage.label = uses[plain(stage)] > 1
                      ? plain(stage) + " (" + fs::path(stage.folder).filename().string() + ")"
                      : plain(stage);
}

} // namespace

std::int64_t seconds_of(const std::string &time) {
  std::tm parts{};
  const char *rest = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  return rest ? static_cast<std::int64_t>(::timegm(&parts)) : 0;
}

Result<TrainingLog> read_training_logs(const std::vector<std::string> &folders) {
  TrainingLog log;
  for (const std::string &folder : folders) {
    std::string name = folder;
    while (name.size() > 1 && name.ends_with('/'))
      name.pop_back();
    const std::string path = name + "/log.jsonl";
    std::ifstream file(path);
    if (!file)
      return fail("there is no log at " + path, "Name the folder that a stage wrote to (run.out)");
    Reader reader(log, name);
    for (std::string line; std::getline(file, line);) {
      if (line.empty())
        continue;
      ++log.lines;
      const json document = json::parse(line, nullptr, false);
      if (document.is_object())
        reader.read(document);
      else
        ++log.unreadable;
    }
  }
  if (log.lines == log.unreadable)
    return fail("there is no readable line in the logs",
                "Has a stage been run yet? It writes log.jsonl into run.out");
  name_stages(log.stages);
  std::ranges::sort(log.tasks, {}, &TaskBest::task);
  return log;
}

} // namespace warpwright::trainer
