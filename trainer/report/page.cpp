#include "trainer/report/page.h"

#include "server/cli/report/style.h"
#include "server/cli/report/svg.h"
#include "support/version.h"
#include "trainer/report/page_parts.h"
#include "trainer/report/page_style.h"

#include <algorithm>
#include <set>

namespace warpwright::trainer {
namespace {

using cli::escape_html;

std::string section(const std::string &title, const std::string &note, const std::string &content) {
  return "<section><h2>" + title + "</h2><p class='muted'>" + note + "</p>" + content +
         "</section>";
}

/// Returns a section. Without content it returns nothing and adds the title to `empty`, with the stage that fills it.
std::string section_or(const std::string &title, const std::string &note,
                       const std::string &content, std::vector<std::string> &empty,
                       const std::string &filled_by) {
  if (!content.empty())
    return section(title, note, content);
  empty.push_back(title + " (" + filled_by + ")");
  return "";
}

std::string big(const std::string &value, const std::string &caption, const char *style = "") {
  return std::string("<div class='") + style + "'><b>" + value + "</b><span>" + caption +
         "</span></div>";
}

/// True if nothing was timed: scores of the CPU backend are no speedups and must not be shown as such.
bool is_untimed(const TrainingLog &log) {
  return log.timed == 0 &&
         std::ranges::all_of(log.best_of_k,
                             [](const BestOfK &entry) { return entry.device == "cpu"; }) &&
         !(log.best_of_k.empty() && log.outcomes.empty());
}

/// Names of the devices that evaluations were measured on.
std::string devices_of(const TrainingLog &log) {
  std::set<std::string> names;
  for (const BestOfK &entry : log.best_of_k)
    if (!entry.device.empty())
      names.insert(entry.device);
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? " Measured on " : ", ") + escape_html(name);
  return text.empty() ? "" : text + ".";
}

/// The best policy at the largest evaluated k up to 4, and counts.
std::string hero(const TrainingLog &log) {
  std::string blocks;
  if (!log.best_of_k.empty() && !is_untimed(log)) {
    const auto best = std::ranges::max_element(log.best_of_k, {}, [](const BestOfK &entry) {
      return std::pair(entry.k <= 4 ? entry.k : 0, entry.geomean);
    });
    blocks += big(shown(best->geomean, 2) + "\xc3\x97",
                  escape_html(best->policy) + ", best of " + std::to_string(best->k) + " on " +
                      std::to_string(best->tasks) + " held-out tasks",
                  "best");
  }
  int proposals = 0;
  for (const auto &[outcome, count] : log.outcomes)
    proposals += count;
  if (proposals) {
    const auto verified = log.outcomes.find("verified");
    const int right = verified == log.outcomes.end() ? 0 : verified->second;
    blocks += big(std::to_string(proposals), "proposals logged") +
              big(shown(100.0 * right / proposals, 1) + "%", "of them verified");
  }
  blocks += big(std::to_string(log.tasks.size()), "tasks") +
            big(std::to_string(log.cheats.size()), "suspected cheats");
  return "<div class='hero'>" + blocks + "</div>";
}

std::string stage_table(const TrainingLog &log) {
  std::string table =
      "<div class='scroll'><table><tr><th>stage</th><th>folder</th><th class='n'>steps</th><th "
      "class='n'>starts</th><th class='n'>time</th></tr>";
  for (const StageLog &stage : log.stages)
    table += "<tr><td>" + escape_html(stage.label) + "</td><td>" + escape_html(stage.folder) +
             "</td><td class='n'>" +
             (stage.steps.empty() ? shown({}, 0) : std::to_string(stage.steps.back().step)) +
             "</td><td class='n'>" + std::to_string(stage.starts) + "</td><td class='n'>" +
             (stage.seconds ? shown(*stage.seconds, 0) + " s" : "not done") + "</td></tr>";
  return table + "</table></div>";
}

std::string outcome_line(const TrainingLog &log) {
  std::string text;
  for (const auto &[outcome, count] : log.outcomes)
    text += (text.empty() ? "Proposals by outcome: " : ", ") + std::to_string(count) + " " +
            escape_html(outcome);
  return text.empty() ? "" : "<p class='muted'>" + text + ".</p>";
}

std::string configurations(const TrainingLog &log) {
  std::string html;
  for (const StageLog &stage : log.stages) {
    if (!stage.config.empty())
      html += "<details><summary>" + escape_html(stage.label) + "</summary><pre>" +
              escape_html(stage.config) + "</pre></details>";
  }
  return html;
}

} // namespace

std::string render_training_page(const PageFacts &facts, const TrainingLog &log) {
  std::string html = "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' "
                     "content='width=device-width'><title>" +
                     escape_html(facts.title) + "</title><style>" + cli::kReportStyle + kPageStyle +
                     "</style><main><h1>" + escape_html(facts.title) + "</h1><p class='muted'>" +
                     escape_html(facts.date) + ", warpwright " + version() + "</p>";
  if (!facts.command.empty())
    html += "<p><code>" + escape_html(facts.command) + "</code></p>";
  if (log.unreadable)
    html += "<div class='banner'>" + std::to_string(log.unreadable) + " of " +
            std::to_string(log.lines) +
            " lines of the logs could not be read and are not shown (a process that was killed "
            "leaves half a line).</div>";
  if (is_untimed(log))
    html += "<div class='banner'>Nothing was timed in these runs (the CPU backend proves "
            "correctness and yields no times): a score of 1 says verified, not fast.</div>";
  html +=
      "<section><h2>Summary</h2>" + hero(log) + outcome_line(log) + stage_table(log) + "</section>";
  std::vector<std::string> empty;
  html += section_or("Held-out evaluation",
                     "Tasks of families and shapes that no training has seen; the same number of "
                     "trials for every policy. A task without a verified version counts as 1." +
                         devices_of(log),
                     evaluation_section(log), empty, "eval");
  html += section_or("Reinforcement learning",
                     "Faint: each step. Firm: running mean over a fifteenth of the steps.",
                     step_plots(log, "rl"), empty, "rl");
  html += section_or("Techniques", "Moves in the proposals of each step.", technique_section(log),
                     empty, "rl, selfsup");
  html += section_or("Supervised fine-tuning", "Imitation of the verified best of each task.",
                     step_plots(log, "sft"), empty, "sft");
  html += section_or("Self-supervised learning", "Propose, verify, keep what was verified, train.",
                     step_plots(log, "selfsup"), empty, "selfsup");
  html += section_or("Analysis",
                     "The policy's analysis before it acts, against the measurements, next to "
                     "guessing. Green: above chance.",
                     analysis_section(log), empty, "eval");
  html += section_or("Language models",
                     "Answers that could not be used were refused with a reason, which the next "
                     "prompt carried.",
                     account_section(log), empty, "eval with an endpoint");
  html += section_or("Best speedup of each task", "Verified, against the source as it was.",
                     task_section(log), empty, "collect, rl, eval");
  html +=
      section_or("Suspected cheats", "Kept as cases for the adversary suite; rewarded negatively.",
                 cheat_section(log), empty, "rl; an empty section is good news");
  const std::string configs = configurations(log);
  if (!configs.empty())
    html += section("Configuration", "As each stage printed it at its last start.", configs);
  if (!empty.empty()) {
    std::string list;
    for (const std::string &name : empty)
      list += (list.empty() ? "" : ", ") + name;
    html += "<footer>Not in these logs: " + list + ".</footer>";
  }
  return html + "</main></html>\n";
}

} // namespace warpwright::trainer
