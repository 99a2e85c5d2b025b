#include "server/cli/report/svg.h"
#include "trainer/report/line_plot.h"
#include "trainer/report/page_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace warpwright::trainer {
namespace {

using cli::escape_html;
using Entries = std::vector<std::pair<std::string, std::size_t>>;

constexpr std::size_t kMostTasks = 80;

std::string cell(const std::string &content) { return "<td>" + content + "</td>"; }
std::string number_cell(const std::string &content, const char *style = "") {
  return std::string("<td class='n ") + style + "'>" + content + "</td>";
}

/// Label of a policy, with the run as a suffix if several runs evaluated the policy.
std::string policy_label(const TrainingLog &log, const std::string &policy,
                         const std::string &run) {
  std::set<std::string> runs;
  for (const BestOfK &entry : log.best_of_k)
    if (entry.policy == policy)
      runs.insert(entry.run);
  return runs.size() > 1 ? policy + " (" + run.substr(run.rfind('/') + 1) + ")" : policy;
}

std::string range_text(std::optional<double> low, std::optional<double> high) {
  return low && high ? "<small>" + shown(low, 2) + "\xe2\x80\x93" + shown(high, 2) + "</small>"
                     : "";
}

std::string ablation_table(const TrainingLog &log, const std::vector<std::string> &policies,
                           const std::set<int> &trials) {
  std::string table = "<div class='scroll'><table><tr><th>policy</th>";
  for (const int k : trials)
    table += "<th class='n'>best of " + std::to_string(k) + "</th>";
  table += "<th class='n'>success</th><th class='n'>share of best</th><th "
           "class='n'>tasks</th></tr>";
  std::map<int, double> best;
  for (const BestOfK &entry : log.best_of_k)
    best[entry.k] = std::max(best[entry.k], entry.geomean);
  for (const std::string &policy : policies) {
    table += "<tr><td class='name'>" + escape_html(policy) + "</td>";
    const BestOfK *last = nullptr;
    for (const int k : trials) {
      const auto found = std::ranges::find_if(log.best_of_k, [&](const BestOfK &entry) {
        return entry.k == k && policy_label(log, entry.policy, entry.run) == policy;
      });
      if (found == log.best_of_k.end()) {
        table += number_cell("\xe2\x80\x93");
        continue;
      }
      last = &*found;
      table += number_cell(shown(found->geomean, 3) + range_text(found->low, found->high),
                           found->geomean == best[k] ? "won" : "");
    }
    const auto percent = [](std::optional<double> share) {
      return share ? shown(100 * *share, 1) + "%" : shown({}, 0);
    };
    table += number_cell(last ? percent(last->success) : "") +
             number_cell(last ? percent(last->share_of_best) : "") +
             number_cell(last ? std::to_string(last->tasks) : "") + "</tr>";
  }
  return table + "</table></div>";
}

std::string paired_table(const TrainingLog &log) {
  if (log.paired.empty())
    return "";
  std::string table =
      "<h3>Pair by pair: ratio of geometric means at equal trials, 95% interval</h3>"
      "<div class='scroll'><table><tr><th>policy</th><th>against</th><th "
      "class='n'>trials</th><th class='n'>ratio</th><th class='n'>interval</th><th "
      "class='n'>tasks</th><th>which is faster</th></tr>";
  for (const PairedRatio &pair : log.paired) {
    const bool won = pair.low > 1, lost = pair.high < 1 && pair.high > 0;
    table += "<tr>" + cell(escape_html(policy_label(log, pair.policy, pair.run))) +
             cell(escape_html(policy_label(log, pair.against, pair.run))) +
             number_cell(std::to_string(pair.k)) +
             number_cell(shown(pair.ratio, 3), won    ? "won"
                                               : lost ? "lost"
                                                      : "") +
             number_cell(shown(pair.low, 3) + " to " + shown(pair.high, 3)) +
             number_cell(std::to_string(pair.tasks)) +
             cell(won    ? escape_html(pair.policy)
                  : lost ? escape_html(pair.against)
                         : "<span class='muted'>not told apart</span>") +
             "</tr>";
  }
  return table + "</table></div>";
}

} // namespace

std::string shown(std::optional<double> value, int digits) {
  if (!value || !std::isfinite(*value))
    return "\xe2\x80\x93";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, *value);
  return text;
}

std::string evaluation_section(const TrainingLog &log) {
  if (log.best_of_k.empty())
    return "";
  std::vector<std::string> policies;
  std::set<int> trials;
  LinePlot plot{.title = "Best of k on held-out tasks, geometric mean speedup (band: 95% interval)",
                .x_label = "trials k",
                .log_x = true,
                .log_y = true,
                .marks_points = true,
                .rules = {1}};
  LinePlot success{.title = "Success after k trials: share of tasks and repeats",
                   .x_label = "trials k",
                   .log_x = true,
                   .marks_points = true};
  for (const BestOfK &entry : log.best_of_k) {
    const std::string label = policy_label(log, entry.policy, entry.run);
    const auto known = std::ranges::find(policies, label);
    const auto index = static_cast<std::size_t>(known - policies.begin());
    if (known == policies.end()) {
      policies.push_back(label);
      plot.series.push_back({label, index, {}});
      success.series.push_back({label, index, {}});
    }
    trials.insert(entry.k);
    plot.series[index].points.push_back({static_cast<double>(entry.k), entry.geomean,
                                         entry.low.value_or(0), entry.high.value_or(0)});
    if (entry.success)
      success.series[index].points.push_back({static_cast<double>(entry.k), *entry.success});
  }
  Entries entries;
  for (std::size_t i = 0; i < policies.size(); ++i)
    entries.emplace_back(policies[i], i);
  for (LinePlot *one : {&plot, &success})
    for (PlotSeries &series : one->series)
      std::ranges::sort(series.points, {}, &PlotPoint::x);
  return legend(entries) + "<div class='plots'>" + draw(plot) + draw(success) + "</div>" +
         "<h3>Ablation: geometric mean of the best of k, with its 95% interval</h3>" +
         ablation_table(log, policies, trials) + paired_table(log);
}

std::string analysis_section(const TrainingLog &log) {
  if (log.analysis.empty())
    return "";
  std::string table = "<div class='scroll'><table><tr><th>policy</th>";
  for (const char *question :
       {"which version was faster", "what bounds the kernel", "which move explains it"})
    table += std::string("<th class='n'>") + question +
             "</th><th class='n'>chance</th><th "
             "class='n'>asked</th>";
  table += "</tr>";
  const auto percent = [](std::optional<double> share) {
    return share ? shown(100 * *share, 1) + "%" : shown({}, 0);
  };
  for (const AnalysisAccuracy &row : log.analysis) {
    table += "<tr>" + cell(escape_html(policy_label(log, row.policy, row.run)));
    for (const auto *question : {&row.faster, &row.bound, &row.move})
      table +=
          number_cell(percent(question->accuracy), question->accuracy && question->chance &&
                                                           *question->accuracy > *question->chance
                                                       ? "won"
                                                       : "") +
          number_cell(percent(question->chance)) +
          number_cell(question->count ? std::to_string(question->count) : shown({}, 0));
    table += "</tr>";
  }
  return table + "</table></div>";
}

std::string task_section(const TrainingLog &log) {
  std::vector<std::string> names;
  std::vector<PlotBar> rows;
  std::size_t without = 0;
  for (const TaskBest &task : log.tasks) {
    PlotBar row{.label = task.task};
    for (const auto &[who, best] : task.best) {
      const auto known = std::ranges::find(names, who);
      row.dots.emplace_back(static_cast<std::size_t>(known - names.begin()), best);
      if (known == names.end())
        names.push_back(who);
    }
    if (row.dots.empty())
      ++without;
    else
      rows.push_back(std::move(row));
  }
  if (rows.empty())
    return "";
  const auto best = [](const PlotBar &row) {
    return std::ranges::max(row.dots, {}, [](const auto &dot) { return dot.second; }).second;
  };
  std::ranges::stable_sort(rows, std::greater<>(), best);
  const std::size_t all = rows.size();
  if (all > kMostTasks) { // evenly over the ranks
    std::vector<PlotBar> kept;
    for (std::size_t i = 0; i < kMostTasks; ++i)
      kept.push_back(std::move(rows[i * (all - 1) / (kMostTasks - 1)]));
    rows = std::move(kept);
  }
  Entries entries;
  for (std::size_t i = 0; i < names.size(); ++i)
    entries.emplace_back(names[i], i);
  std::string note = std::to_string(all) + " tasks with a verified and timed version";
  if (all > rows.size())
    note += ", of which " + std::to_string(rows.size()) + " evenly over the ranks are drawn";
  if (without)
    note += "; " + std::to_string(without) + " with none";
  return "<p class='muted'>" + note + ".</p>" + legend(entries) +
         draw_ratios("Best verified speedup of each task", rows);
}

std::string account_section(const TrainingLog &log) {
  if (log.accounts.empty())
    return "";
  std::string table =
      "<div class='scroll'><table><tr><th>policy</th><th class='n'>answers</th><th "
      "class='n'>usable</th><th class='n'>malformed</th><th class='n'>no plan of the task</th><th "
      "class='n'>host code</th><th class='n'>tokens</th><th class='n'>retries</th><th>why answers "
      "were refused</th></tr>";
  for (const PolicyAccount &account : log.accounts) {
    int all = 0;
    for (const auto &[kind, count] : account.answers)
      all += count;
    table += "<tr>" + cell(escape_html(account.policy)) + number_cell(std::to_string(all));
    for (const char *kind : {"usable", "malformed", "bad_plan", "host_code"}) {
      const auto found = account.answers.find(kind);
      table += number_cell(std::to_string(found == account.answers.end() ? 0 : found->second));
    }
    std::string reasons;
    for (const auto &[reason, count] : account.reasons)
      reasons += (reasons.empty() ? "" : "; ") + std::to_string(count) + " " + reason;
    table += number_cell(shown(account.prompt_tokens + account.answer_tokens, 0) +
                         (account.estimated ? "<small>partly estimated</small>" : "")) +
             number_cell(shown(account.retries, 0)) +
             cell("<small>" + escape_html(reasons) + "</small>") + "</tr>";
  }
  return table + "</table></div>";
}

std::string cheat_section(const TrainingLog &log) {
  if (log.cheats.empty())
    return "";
  std::string table = "<div class='scroll'><table><tr><th>task</th><th>moves</th><th>what gave it "
                      "away</th></tr>";
  for (const CheatEntry &cheat : log.cheats)
    table += "<tr>" + cell(escape_html(cheat.task)) + cell(escape_html(cheat.moves)) +
             cell(escape_html(cheat.message)) + "</tr>";
  return table + "</table></div>";
}

} // namespace warpwright::trainer
