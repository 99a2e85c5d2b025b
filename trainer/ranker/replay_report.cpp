#include "trainer/ranker/replay_report.h"

#include "trainer/ranker/choose.h"
#include "trainer/ranker/ranker_file.h"
#include "trainer/records/unpacked.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;
using Tasks = std::vector<const RankedTask *>;

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kTails = 6;       ///< tasks that differ most, left out of a second mean
constexpr double kGain = 0.05;          ///< speedups above are worth finding
constexpr std::size_t kCandidates = 64; ///< whose cost is reported

double mean_of(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return values.empty() ? 0 : sum / double(values.size());
}

std::vector<double> at(const Replay &replay, std::size_t place) {
  std::vector<double> logs;
  for (const auto &one : replay.logs)
    logs.push_back(one[place]);
  return logs;
}

Json row_of(const Replay &replay) {
  Json row{{"policy", replay.policy}, {"tasks", replay.logs.size()}};
  for (std::size_t i = 0; i < std::size(kReplayed); ++i) {
    const std::vector<double> logs = at(replay, i);
    const Interval best = geometric_mean(logs, kSeed);
    row["best"][std::to_string(kReplayed[i])] = {best.value, best.low, best.high};
    row["share"][std::to_string(kReplayed[i])] = paired_ratio(logs, replay.best, kSeed).value;
  }
  std::size_t near = 0, gains = 0, faster = 0;
  for (std::size_t i = 0; i < replay.logs.size(); ++i) {
    near += replay.logs[i][0] >= replay.best[i] - std::log1p(kGain);
    if (replay.best[i] > std::log1p(kGain) && !replay.first_faster.empty()) {
      ++gains;
      faster += replay.first_faster[i];
    }
  }
  row["first_within_5_percent"] = double(near) / std::max(1.0, double(replay.logs.size()));
  if (!replay.first_verified.empty()) {
    row["first_verified"] = double(std::ranges::count(replay.first_verified, true)) /
                            std::max(1.0, double(replay.first_verified.size()));
    row["first_faster_where_a_gain_is"] = double(faster) / std::max(1.0, double(gains));
  }
  return row;
}

/// Ratio of two policies' best of k on the same tasks, with and without the tasks that differ most.
Json ratio_of(const Replay &one, const Replay &other) {
  Json result{{"policy", one.policy}, {"against", other.policy}};
  for (std::size_t i = 0; i < std::size(kReplayed); ++i) {
    const std::vector<double> a = at(one, i), b = at(other, i);
    const Interval all = paired_ratio(a, b, kSeed);
    std::vector<double> differences;
    for (std::size_t j = 0; j < a.size(); ++j)
      differences.push_back(a[j] - b[j]);
    std::ranges::sort(differences, std::greater(), [](double value) { return std::abs(value); });
    std::vector<double> rest(differences.begin() +
                                 std::ptrdiff_t(std::min(kTails, differences.size())),
                             differences.end());
    const Interval without = geometric_mean(rest, kSeed);
    std::ranges::sort(differences);
    result[std::to_string(kReplayed[i])] = {
        {"ratio", {all.value, all.low, all.high}},
        {"without_tails", {without.value, without.low, without.high}},
        {"median_task", differences.empty() ? 1 : std::exp(differences[differences.size() / 2])}};
  }
  return result;
}

/// The order of a ranker that measures one candidate after another, as candidate_pool.h chooses
/// them.
Order chosen_order(const Ranker &ranker, const RankedTask &task, bool compiled) {
  const Ranker::Rows rows = ranker.rows(task.facts);
  Order open =
      order_by(task, [&](const RecordedCandidate &one) { return ranker.order(rows, one.moves); });
  std::vector<Prediction> predictions;
  for (const RecordedCandidate &one : task.candidates) {
    const CompileFacts report = compile_facts(one.measured);
    predictions.push_back(ranker.predict(rows, one.moves, compiled ? &report : nullptr));
  }
  Order order;
  std::vector<Scored> taken;
  double best = 0;
  while (order.size() < kReplayed[std::size(kReplayed) - 1] && !open.empty()) {
    std::vector<Scored> pool;
    for (std::size_t i = 0; i < std::min(kLookedAt, open.size()); ++i)
      pool.push_back({&task.candidates[open[i]].moves, predictions[open[i]]});
    const std::size_t next = *choose(pool, best, taken);
    const RecordedCandidate &candidate = task.candidates[open[next]];
    if (candidate.score > 0)
      best = std::max(best, std::log(candidate.score));
    taken.push_back(pool[next]);
    order.push_back(open[next]);
    open.erase(open.begin() + std::ptrdiff_t(next));
  }
  return order;
}

Replay replay_of_sessions(const std::string &policy, const Tasks &tasks,
                          const std::map<std::string, std::vector<std::vector<double>>> &sessions) {
  Replay result{.policy = policy};
  for (const RankedTask *task : tasks) {
    std::vector<double> logs;
    const auto found = sessions.find(task->id);
    for (const std::size_t k : kReplayed) {
      double sum = 0;
      for (const std::vector<double> &scores : found->second) {
        double best = 0;
        for (std::size_t i = 0; i < std::min(k, scores.size()); ++i)
          best = std::max(best, scores[i] > 0 ? std::log(scores[i]) : 0);
        sum += best;
      }
      logs.push_back(sum / std::max(1.0, double(found->second.size())));
    }
    result.logs.push_back(std::move(logs));
    result.best.push_back(std::log(task->best));
  }
  return result;
}

std::vector<Replay> replays(const ReportInput &input, const Tasks &tasks) {
  std::vector<Replay> found;
  found.push_back(random_replay(tasks));
  found.push_back(replay("search", tasks, [&](const RankedTask &task) {
    return search_order(task, input.templates);
  }));
  found.push_back(replay("table of moves", tasks, [&](const RankedTask &task) {
    return order_by(task,
                    [&](const RecordedCandidate &one) { return input.table.value(one.moves); });
  }));
  found.push_back(replay("ranker, by order alone", tasks, [&](const RankedTask &task) {
    const Ranker::Rows rows = input.ranker.rows(task.facts);
    return order_by(
        task, [&](const RecordedCandidate &one) { return input.ranker.order(rows, one.moves); });
  }));
  found.push_back(replay("ranker", tasks, [&](const RankedTask &task) {
    return chosen_order(input.ranker, task, false);
  }));
  return found;
}

Json table_of(const std::vector<Replay> &found) {
  Json rows = Json::array(), ratios = Json::array();
  const Replay *ranker = nullptr;
  for (const Replay &one : found)
    if (one.policy == "ranker")
      ranker = &one;
  for (const Replay &one : found) {
    rows.push_back(row_of(one));
    if (ranker && &one != ranker)
      ratios.push_back(ratio_of(*ranker, one));
  }
  return {{"policies", std::move(rows)}, {"ratios", std::move(ratios)}};
}

Json agreement_of(const Ranker &ranker, const Tasks &tasks) {
  std::map<std::string, Ranker::Rows> rows;
  for (const RankedTask *task : tasks)
    rows.emplace(task->id, ranker.rows(task->facts));
  const Agreement found =
      agreement(tasks, [&](const RankedTask &task, const RecordedCandidate &one) {
        return ranker.predict(rows.at(task.id), one.moves).log_speedup;
      });
  return {{"rank_correlation", found.rank_correlation},
          {"tasks", found.tasks},
          {"pairs_over_10_percent_apart", found.pairs},
          {"tasks_with_pairs", found.tasks_with_pairs}};
}

/// A candidate's prediction beside its verdict.
struct Judged {
  double error = 0, half_width = 0, verifies = 0, weight = 0;
  bool failed = false, timed = false, supported = true;
};

std::vector<Judged> judged(const Ranker &ranker, const Tasks &tasks) {
  std::vector<Judged> found;
  for (const RankedTask *task : tasks) {
    const Ranker::Rows rows = ranker.rows(task->facts);
    for (const RecordedCandidate &one : task->candidates) {
      const Prediction expected = ranker.predict(rows, one.moves);
      found.push_back({std::abs(expected.log_speedup - one.log_speedup), expected.half_width,
                       expected.verifies, 1 / double(task->candidates.size()), one.score <= 0,
                       one.measured.speedup.has_value(), expected.supported});
    }
  }
  return found;
}

/// Area under the curve of the chance to verify: how often a failure has the lower one.
std::optional<double> area(const std::vector<Judged> &found) {
  double right = 0, pairs = 0;
  for (const Judged &a : found)
    for (const Judged &b : found)
      if (a.failed && !b.failed) {
        ++pairs;
        right += a.verifies < b.verifies ? 1 : a.verifies == b.verifies ? 0.5 : 0;
      }
  return pairs > 0 ? std::optional(right / pairs) : std::nullopt;
}

} // namespace

Json calibration(const Ranker &ranker, const Tasks &tasks) {
  std::vector<Judged> found = judged(ranker, tasks);
  Json result;
  if (const auto failures = area(found))
    result["failures_area_under_curve"] = *failures;
  std::erase_if(found, [](const Judged &one) { return !one.timed; });
  double inside = 0, all = 0;
  std::size_t unsupported = 0;
  for (const Judged &one : found) {
    inside += one.error <= one.half_width ? one.weight : 0;
    all += one.weight;
    unsupported += !one.supported;
  }
  result["inside_of_90_percent_interval"] = inside / std::max(1e-9, all);
  result["candidates"] = found.size();
  result["unsupported"] = unsupported;
  std::ranges::stable_sort(found, {}, &Judged::half_width);
  for (std::size_t quarter = 0; quarter < 4 && !found.empty(); ++quarter) {
    std::vector<double> errors, widths;
    for (std::size_t i = quarter * found.size() / 4; i < (quarter + 1) * found.size() / 4; ++i) {
      errors.push_back(found[i].error);
      widths.push_back(found[i].half_width);
    }
    result["quarters_by_width"].push_back(
        {{"half_width", mean_of(widths)}, {"mean_error", mean_of(errors)}});
  }
  return result;
}

namespace {

void append(Replay &all, const Replay &more) {
  all.policy = more.policy;
  all.logs.insert(all.logs.end(), more.logs.begin(), more.logs.end());
  all.best.insert(all.best.end(), more.best.begin(), more.best.end());
  all.first_verified.insert(all.first_verified.end(), more.first_verified.begin(),
                            more.first_verified.end());
  all.first_faster.insert(all.first_faster.end(), more.first_faster.begin(),
                          more.first_faster.end());
}

/// A ranker and a table for each family, trained on all other families of all splits.
Json left_out_families(const ReportInput &input) {
  std::map<std::string, Tasks> families;
  for (const RankedTask &task : input.tasks)
    families[task.family].push_back(&task);
  std::vector<Replay> all;
  Json by_family = Json::array();
  Agreement agreed;
  std::vector<double> inside;
  for (const auto &[family, tasks] : families) {
    Tasks others;
    for (const RankedTask &task : input.tasks)
      if (task.family != family)
        others.push_back(&task);
    const Ranker ranker(train_ranker(others, input.training));
    const MoveTable table(others);
    const std::vector<Replay> found = replays(
        {input.tasks, ranker, table, input.templates, input.sessions, input.training}, tasks);
    all.resize(found.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      append(all[i], found[i]);
    const Json one = agreement_of(ranker, tasks), held = calibration(ranker, tasks);
    agreed.rank_correlation +=
        one.at("rank_correlation").get<double>() * one.at("tasks").get<double>();
    agreed.pairs += one.at("pairs_over_10_percent_apart").get<double>() *
                    one.at("tasks_with_pairs").get<double>();
    agreed.tasks += one.at("tasks").get<std::size_t>();
    agreed.tasks_with_pairs += one.at("tasks_with_pairs").get<std::size_t>();
    inside.push_back(held.at("inside_of_90_percent_interval"));
    by_family.push_back({{"family", family},
                         {"tasks", tasks.size()},
                         {"share", row_of(found.back()).at("share")},
                         {"inside_of_90_percent_interval", inside.back()}});
  }
  Json result = table_of(all);
  result["families"] = std::move(by_family);
  result["agreement"] = {
      {"rank_correlation", agreed.rank_correlation / std::max(1.0, double(agreed.tasks))},
      {"tasks", agreed.tasks},
      {"pairs_over_10_percent_apart",
       agreed.pairs / std::max(1.0, double(agreed.tasks_with_pairs))},
      {"tasks_with_pairs", agreed.tasks_with_pairs}};
  result["inside_of_90_percent_interval"] = mean_of(inside);
  return result;
}

} // namespace

Json replay_set(const ReportInput &input, const Tasks &tasks, std::vector<Replay> rows) {
  std::vector<Replay> found = replays(input, tasks);
  std::ranges::move(rows, std::back_inserter(found));
  Json result = table_of(found);
  result["agreement"] = agreement_of(input.ranker, tasks);
  result["calibration"] = calibration(input.ranker, tasks);
  return result;
}

namespace {

Json live_set(const ReportInput &input) {
  Tasks tasks;
  const auto &first = input.sessions.begin()->second;
  for (const RankedTask &task : input.tasks)
    if (first.contains(task.id))
      tasks.push_back(&task);
  std::vector<Replay> rows;
  for (const auto &[policy, sessions] : input.sessions)
    if (policy.starts_with("builtin") && std::ranges::all_of(tasks, [&](const RankedTask *task) {
          return sessions.contains(task->id);
        }))
      rows.push_back(replay_of_sessions(policy, tasks, sessions));
  return replay_set(input, tasks, std::move(rows));
}

} // namespace

Result<Sessions> read_sessions(const std::string &path) {
  const std::string text = TRY(unpacked_text(path));
  Sessions sessions;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    try {
      const Json event = Json::parse(line);
      if (event.value("event", "") == "session")
        sessions[event.at("policy")][event.at("task")].push_back(event.at("scores"));
    } catch (const Json::exception &error) {
      return fail(path + ": line " + std::to_string(number) + ": " + error.what());
    }
  if (sessions.empty())
    return fail(path + " holds no sessions", "Name the log of warpwright-train eval");
  return sessions;
}

Json replay_report(const ReportInput &input) {
  Tasks held_out, unseen, siblings;
  std::set<std::string> trained;
  for (const RankedTask &task : input.tasks)
    if (task.split == Split::Training)
      trained.insert(task.source);
  for (const RankedTask &task : input.tasks)
    if (task.split == Split::HeldOut) {
      held_out.push_back(&task);
      (trained.contains(task.source) ? siblings : unseen).push_back(&task);
    }
  Json report;
  if (!input.sessions.empty())
    report["live_tasks"] = live_set(input);
  report["held_out"] = replay_set(input, held_out);
  report["held_out_compiled"] =
      row_of(replay("ranker, with the compiler's report", held_out, [&](const RankedTask &task) {
        return chosen_order(input.ranker, task, true);
      }));
  report["unseen_sources"] = replay_set(input, unseen);
  report["unseen_shapes"] = replay_set(input, siblings);
  report["left_out_families"] = left_out_families(input);
  report["weights"] = {
      {"bytes", to_file(input.ranker.weights()).size()},
      {"features", input.ranker.weights().features.size()},
      {"comparisons_of_64_candidates",
       kCandidates * input.ranker.order_cost() + kLookedAt * input.ranker.predict_cost()}};
  return report;
}

} // namespace warpwright::trainer
