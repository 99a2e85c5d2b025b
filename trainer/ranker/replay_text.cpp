// The report of replays as Markdown.
#include "trainer/ranker/replay_report.h"

#include <cmath>
#include <sstream>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

std::string percent(double share) { return std::to_string(std::lround(share * 100)) + "%"; }

std::string rounded(double value) {
  std::ostringstream text;
  text.precision(3);
  text << std::fixed << value;
  return text.str();
}

void show_set(std::ostream &out, const std::string &name, const Json &set) {
  out << "\n**" << name << "**, " << set.at("policies").at(0).at("tasks") << " tasks\n\n"
      << "| | best of 1 | 2 | 4 | 8 | first within 5% |\n|---|---|---|---|---|---|\n";
  for (const Json &row : set.at("policies")) {
    out << "| " << row.at("policy").get<std::string>();
    for (const std::size_t k : kReplayed)
      out << " | " << rounded(row.at("best").at(std::to_string(k)).at(0)) << " ("
          << percent(row.at("share").at(std::to_string(k))) << ")";
    out << " | " << percent(row.at("first_within_5_percent")) << " |\n";
  }
  out << "\n";
  for (const Json &ratio : set.at("ratios")) {
    out << ratio.at("policy").get<std::string>() << " / " << ratio.at("against").get<std::string>()
        << ":";
    for (const std::size_t k : {std::size_t(1), std::size_t(4)}) {
      const Json &at_k = ratio.at(std::to_string(k)), &all = at_k.at("ratio"),
                 &rest = at_k.at("without_tails");
      out << " at " << k << " " << rounded(all[0]) << " [" << rounded(all[1]) << ", "
          << rounded(all[2]) << "], without the six that differ most " << rounded(rest[0]) << " ["
          << rounded(rest[1]) << ", " << rounded(rest[2]) << "], median task "
          << rounded(at_k.at("median_task")) << ";";
    }
    out << "\n";
  }
  const Json &agreed = set.at("agreement");
  out << "\nRank correlation within a task " << rounded(agreed.at("rank_correlation"))
      << ", pairs over 10% apart in the right order "
      << percent(agreed.at("pairs_over_10_percent_apart")) << "\n";
}

} // namespace

std::string shown_report(const Json &report) {
  std::ostringstream out;
  if (report.contains("live_tasks"))
    show_set(out, "Held-out tasks of the live evaluation", report.at("live_tasks"));
  show_set(out, "All held-out tasks", report.at("held_out"));
  show_set(out, "Held-out tasks with a source that the training split lacks",
           report.at("unseen_sources"));
  show_set(out, "Held-out tasks with a source of the training split, at other sizes",
           report.at("unseen_shapes"));
  show_set(out, "Each family held out", report.at("left_out_families"));
  const Json &held = report.at("held_out").at("calibration");
  out << "\nHeld-out tasks: " << percent(held.at("inside_of_90_percent_interval"))
      << " of the candidates lie inside their 90% interval (families held out: "
      << percent(report.at("left_out_families").at("inside_of_90_percent_interval")) << ")\n";
  for (const Json &quarter : held.at("quarters_by_width"))
    out << "  interval of +-" << rounded(quarter.at("half_width")) << ": mean error "
        << rounded(quarter.at("mean_error")) << "\n";
  out << "Weights: " << report.at("weights").dump() << "\n";
  return out.str();
}

} // namespace warpwright::trainer
