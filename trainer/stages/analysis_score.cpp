#include "trainer/stages/analysis_score.h"

#include "support/model/json.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/exemplars.h"

#include <algorithm>
#include <iostream>

namespace warpwright::trainer {
namespace {

constexpr int kPairs = 8; ///< pairs of exemplars per task
constexpr ExemplarChoice kJudgedExemplars{.buckets = 8, .temperature = 4};

/// Counts of right answers, and the number expected from guessing.
struct Judged {
  double right = 0, chance = 0;
  std::map<std::string, int> truths;
  int count = 0;
  void add(bool is_right, double guess, const std::string &truth) {
    right += is_right;
    chance += guess;
    ++truths[truth];
    ++count;
  }
  /// The better accuracy of two strategies: a uniform guess, and always the most frequent answer.
  double best_chance() const {
    int most = 0;
    for (const auto &[truth, times] : truths)
      most = std::max(most, times);
    return std::max(chance, double(most)) / std::max(1, count);
  }
  void write(nlohmann::json &fields, const std::string &name) const {
    fields[name + "_count"] = count;
    if (count == 0)
      return;
    fields[name + "_accuracy"] = right / count;
    fields[name + "_chance"] = best_chance();
  }
};

} // namespace

Result<void> score_analyses(const Config &config, const Surroundings &surroundings,
                            Workplace &place, const std::vector<TaskVersions> &versions,
                            RunLog &log) {
  const auto device = place.environment().device(); // questions use only records, also when live
  RecordedEnvironment recorded(place.records(), device ? device_key(*device) : "");
  for (const std::string &listed : config.eval.policies) {
    const std::string name = listed.substr(0, listed.find('@'));
    if (!name.starts_with("builtin") || name.find("?plain") != std::string::npos)
      continue;
    auto policy = TRY(surroundings.make_policy(config, name + "?analysis", config.run.seed));
    std::mt19937_64 random(config.run.seed);
    Judged faster, why, bound;
    for (const TaskVersions &task : versions)
      for (int i = 0; i < kPairs && task.versions.size() > 1; ++i) {
        const Context context{task.task, task.view, device,
                              choose_exemplars(task.versions, kJudgedExemplars, random),
                              task.versions};
        const AnalysisTruth truth =
            analysis_truth(context.exemplars, task.versions, task.view.original);
        auto proposal = TRY(policy->propose(context, recorded));
        const Analysis &said = proposal.analysis;
        if (truth.faster_exemplar)
          faster.add(said.faster_exemplar == truth.faster_exemplar, 0.5,
                     std::to_string(*truth.faster_exemplar));
        if (const auto names = differing_moves(context.exemplars);
            truth.explaining_move && names.size() > 1)
          why.add(said.explaining_move == truth.explaining_move, 1 / double(names.size()),
                  *truth.explaining_move);
        if (truth.bound)
          bound.add(said.bound == truth.bound, 1.0 / 3, std::string(model::name(*truth.bound)));
      }
    nlohmann::json fields{{"policy", name}};
    faster.write(fields, "faster");
    why.write(fields, "move");
    bound.write(fields, "bound");
    std::cout << "analysis of " << name << ": " << fields.dump() << "\n";
    TRY(log.write("analysis", fields));
  }
  return {};
}

} // namespace warpwright::trainer
