#include "server/kernelbench/bench_command.h"

#include "runner/connect/choose_device.h"
#include "server/kernelbench/bench_run.h"
#include "server/kernelbench/page.h"
#include "server/kernelbench/statistics.h"
#include "support/hash.h"
#include "support/model/json.h"
#include "support/version.h"
#include "support/words.h"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace warpwright::server {
namespace {

using nlohmann::json;
using Answers = std::map<std::string, CandidateAnswer>;

constexpr int kDone = 0, kFailed = 1, kUsage = 2;
constexpr std::chrono::milliseconds kJobTimeout{
    240'000}; ///< includes torch.compile of a whole network
/// Some tasks start, compile, trace or plan while another is measured.
constexpr int kTasksAWorker = 2;

void print(const Error &error) { std::cerr << "warpwright: " << describe(error) << '\n'; }

void keep_named(std::vector<BenchTask> &tasks, const std::string &names) {
  if (names.empty())
    return;
  std::set<std::string> wanted;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');)
    wanted.insert(name);
  std::erase_if(tasks, [&](const BenchTask &task) { return !wanted.contains(task.id); });
}

/// Header that makes results comparable: the tasks' sources and the settings of the run.
json header_of(const BenchCommand &command, const std::vector<BenchTask> &tasks,
               const std::optional<Answers> &answers, const model::DeviceInfo &device) {
  std::string sources;
  for (const BenchTask &task : tasks)
    sources += task.id + sha256_hex(task.source);
  json header = {{"tasks", tasks.size()},
                 {"sources", sha256_hex(sources).substr(0, 16)},
                 {"device", device.name},
                 {"max_variants", command.max_variants},
                 {"measure_seconds", command.measure_seconds},
                 {"version", version()}};
  if (command.no_measure)
    header["measured"] = false;
  if (command.mode != model::ModuleMode::AsMade)
    header["mode"] = model::name(command.mode);
  if (command.baselines != BenchCommand{}.baselines)
    header["baselines"] = command.baselines;
  if (!answers)
    header["measured_through"] = command.standalone ? "standalone exports" : "exports";
  if (answers) {
    std::string texts;
    for (const auto &[id, answer] : *answers)
      texts += id + sha256_hex(answer.source);
    header["candidates"] = sha256_hex(texts).substr(0, 16);
  }
  return header;
}

/// Prints progress: "[12/250] 1/12: verified, 3.10x eager+graph, 1.20x torch.compile+graph".
void tell(const BenchResult &result, std::size_t done, std::size_t all) {
  std::string line = "[" + std::to_string(done) + "/" + std::to_string(all) + "] " + result.id +
                     " " + result.name + ": " + std::string(name(result.state));
  for (const char *baseline : {"eager+graph", "torch.compile+graph", "eager"})
    if (const auto found = result.ratios.find(baseline); found != result.ratios.end())
      line += ", " + printed("%.2fx", found->second.value) + " " + baseline;
  if (!result.reason.empty())
    line += " (" + result.reason.substr(0, 300) + ")";
  std::cerr << line << '\n';
}

/// Prints a stage with the time since the program's start: "  12.31 s  1/12 measuring".
void tell_stage(const std::string &id, const std::string &stage) {
  using Clock = std::chrono::steady_clock;
  static const Clock::time_point start = Clock::now();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::cerr << printed("%9.2f s  ", seconds) + id + " " + stage + "\n";
}

json document_of(const BenchCommand &command, const json &header,
                 const std::vector<BenchResult> &results) {
  json tasks = json::array(), levels = json::object();
  std::set<int> seen;
  for (const BenchResult &result : results) {
    tasks.push_back(to_json(result));
    seen.insert(result.level);
  }
  for (const int level : seen)
    levels[std::to_string(level)] = to_json(summarise(results, level));
  return {{"command", command.command},
          {"run", header},
          {"summary", to_json(summarise(results))},
          {"levels", std::move(levels)},
          {"tasks", std::move(tasks)}};
}

BenchPage page_of(const BenchCommand &command, const model::DeviceInfo &device,
                  const std::vector<BenchResult> &results) {
  BenchPage page{
      .title = "KernelBench, measured", .command = command.command, .version = version()};
  page.notes.push_back(device.name + ", " + device.driver);
  page.notes.push_back("Each ratio is baseline over candidate, measured in pairs in random order, "
                       "with a cold L2 and fresh inputs. Baselines with +graph are device times of "
                       "CUDA graphs; the others are host times as a program calls them. Precision "
                       "rules are on: an error against float64 may not exceed four times the "
                       "reference's own. A baseline that breaks them is shown as wrong and is not "
                       "compared with.");
  if (command.candidates.empty())
    page.notes.push_back("The candidate is the export that a user gets: the decorated class with "
                         "its plan file, loaded in a separate process. If its kernels did not "
                         "answer every call, a row is a failure and counts as 1.0.");
  if (!command.candidates.empty()) {
    page.title = "KernelBench, another system's answers measured";
    page.notes.push_back("The candidates are host code: Python and C++ that ran in a separate "
                         "process, without the reference, the expected results "
                         "and the comparison. Their times are taken by the runner's timer inside "
                         "that process and compared with the clock of another process; "
                         "docs/use/candidates.md describes the limits.");
  }
  for (const BenchResult &result : results)
    page.date = std::max(page.date, result.date);
  return page;
}

Result<void> write_reports(const BenchCommand &command, const json &header,
                           const model::DeviceInfo &device,
                           const std::vector<BenchResult> &results) {
  if (!command.json.empty())
    if (auto written = write_atomically(command.json, document_of(command, header, results).dump(1)); !written)
      return written;
  if (!command.html.empty())
    return write_atomically(command.html, render_bench_page(page_of(command, device, results), results));
  return {};
}

/// Sorts results in the order of the tasks.
void sort_as(const std::vector<BenchTask> &tasks, std::vector<BenchResult> &results) {
  std::ranges::stable_sort(results, {}, [&](const BenchResult &result) {
    return std::ranges::find(tasks, result.id, &BenchTask::id) - tasks.begin();
  });
}

struct Opened {
  std::vector<BenchTask> tasks;
  std::optional<Answers> answers; ///< of other systems, if those are judged
  std::unique_ptr<runner::BlockingClient> client;
  model::DeviceInfo device;
  int gpus = 0;
};

/// Loads other systems' answers; nullopt: our plans are wanted.
/// Errors: no task has an answer, which suggests a mistake.
Result<std::optional<Answers>> load_answers(const BenchCommand &command,
                                            const std::vector<BenchTask> &tasks) {
  if (command.candidates.empty())
    return std::nullopt;
  auto answers = load_candidates(command.candidates, command.candidate_field);
  if (!answers)
    return std::unexpected(answers.error());
  const auto is_answered = [&](const BenchTask &task) { return answers->contains(task.id); };
  if (std::ranges::none_of(tasks, is_answered))
    return fail(command.candidates + " answers none of the tasks",
                tasks.empty() ? "Check --tasks and --level"
                              : "The first task is " + tasks.front().id +
                                    ": name files level1/1_Name.py, or give level_id and task_id");
  std::cerr << std::ranges::count_if(tasks, is_answered) << " of " << tasks.size()
            << " tasks have an answer in " << command.candidates << '\n';
  return std::optional(std::move(*answers));
}

Result<Opened> open(const BenchCommand &command) {
  auto tasks =
      load_bench_tasks(command.path, std::set(command.levels.begin(), command.levels.end()));
  if (!tasks)
    return std::unexpected(tasks.error());
  keep_named(*tasks, command.tasks);
  auto answers = load_answers(command, *tasks);
  if (!answers)
    return std::unexpected(answers.error());
  auto client = runner::BlockingClient::connect(
      command.runner.empty() ? "local:?workers=" + std::to_string(command.workers_per_gpu)
                             : command.runner);
  if (!client)
    return std::unexpected(client.error());
  const auto info = (*client)->info();
  if (!info)
    return std::unexpected(info.error());
  const auto device = runner::choose_device(*info, command.device);
  if (!device)
    return std::unexpected(device.error());
  const auto gpus =
      static_cast<int>(std::ranges::count(info->devices, "cuda", &model::DeviceInfo::kind));
  return Opened{std::move(*tasks), std::move(*answers), std::move(*client), *device, gpus};
}

} // namespace

int run_kernelbench(const BenchCommand &command, std::stop_token stop) {
  auto opened = open(command);
  if (!opened) {
    print(opened.error());
    return kUsage;
  }
  const json header = header_of(command, opened->tasks, opened->answers, opened->device);
  auto file = ResultsFile::open(command.results, header);
  if (!file) {
    print(file.error());
    return kUsage;
  }
  BenchRunOptions options;
  if (!command.known.empty()) {
    auto known = read_recipes(command.known);
    if (!known) {
      print(known.error());
      return kUsage;
    }
    options.known = std::move(*known);
  }
  const bool gpu = opened->device.kind == "cuda";
  options.at_once = command.at_once > 0 ? command.at_once
                    : gpu ? kTasksAWorker * command.workers_per_gpu * std::max(opened->gpus, 1)
                          : 1;
  options.limits.search.max_variants = command.max_variants;
  options.limits.thorough_search = !gpu; // on a GPU the best is verified again anyway
  options.limits.measure_budget =
      std::chrono::milliseconds(static_cast<std::int64_t>(1000 * command.search_seconds));
  // The best plan is verified once more; the figures that count are those of its export.
  options.limits.final_measure_budget = options.limits.measure_budget;
  options.limits.baselines = {};
  options.verify.confirm_large = false;
  options.measure_budget =
      std::chrono::milliseconds(static_cast<std::int64_t>(1000 * command.measure_seconds));
  options.baselines = command.baselines;
  options.verify.device = command.device;
  options.mode = command.mode;
  options.limits.measure = !command.no_measure;
  options.verify.timeout = kJobTimeout * std::max<std::size_t>(command.baselines.size(), 1);
  options.export_folder = command.export_folder;
  options.standalone = command.standalone;
  options.time_limit = std::chrono::seconds(static_cast<std::int64_t>(60 * command.minutes));
  options.candidates = std::move(opened->answers);
  BenchRunEvents events{.on_result = tell};
  if (command.stages)
    events.on_stage = tell_stage;
  auto results =
      run_bench(opened->tasks, *opened->client, opened->device, *file, options, events, stop);
  if (!results) {
    print(results.error());
    return kFailed;
  }
  sort_as(opened->tasks, *results);
  std::cout << render_bench_text(*results);
  if (auto written = write_reports(command, header, opened->device, *results); !written) {
    print(written.error());
    return kFailed;
  }
  if (results->size() == opened->tasks.size())
    return kDone;
  std::cerr << results->size() << " of " << opened->tasks.size()
            << " tasks have a result; the same command goes on from " << command.results << '\n';
  return kFailed;
}

} // namespace warpwright::server
