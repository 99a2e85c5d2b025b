// Policy around the trainer's own proposer; it keeps the walks of a proposal, so that each plan is
// built once.
#include "server/optimize/module_policy.h"

#include "generator/planning/module_task.h"
#include "server/optimize/space_environment.h"
#include "support/hash.h"
#include "support/model/json.h"
#include "trainer/inference/plain_network.h"
#include "trainer/policy/builtin.h"
#include "trainer/policy/proposer.h"

#include <algorithm>

namespace warpwright::server {
namespace {

constexpr int kAttempts = 6; ///< to find a plan that other moves have not made
constexpr std::uint64_t kSeed = 1;

class BuiltinModulePolicy final : public AdvisedModulePolicy {
public:
  BuiltinModulePolicy(const trainer::PlainPolicy &policy, const TorchTask &task,
                      const model::DeviceInfo &device, std::unique_ptr<search::TorchPolicy> search,
                      ModulePolicy &told)
      : AdvisedModulePolicy("builtin", std::move(search), told), task_(task),
        space_(task.task, task.graph, planning::facts_of(device)),
        environment_(space_, model::to_json(task.task), graph_text(task, device), device),
        policy_(policy.network, policy.vocabulary, {}, kSeed), proposer_(policy_, {}, kSeed) {
    training_task_.language = trainer::kTorchLanguage;
    training_task_.path = task.task.file;
    training_task_.text = task.task.module->source;
    training_task_.kernel = task.task.module->model;
    training_task_.id = training_task_.kernel + "/" + sha256_hex(training_task_.text);
  }

private:
  std::vector<trainer::TriedVersion>
  versions_of(const std::vector<search::TorchVariant> &tried) const {
    std::vector<trainer::TriedVersion> versions;
    std::map<std::string, const model::Verdict *> verdicts;
    for (const search::TorchVariant &variant : tried)
      verdicts[model::hash(variant.proposal.built.plan)] = &variant.verdict;
    for (const auto &[moves, plan] : proposed_) { // including plans still being measured
      const auto verdict = verdicts.find(plan);
      versions.push_back(
          {moves, {}, verdict == verdicts.end() ? model::Verdict{} : *verdict->second});
      if (verdict == verdicts.end())
        versions.back().verdict.outcome = model::Outcome::Unsupported;
    }
    return versions;
  }

  Result<std::optional<search::TorchProposal>>
  advised(const std::vector<search::TorchVariant> &tried) override {
    for (int i = 0; i < kAttempts; ++i) {
      auto proposal = proposer_.propose(training_task_, versions_of(tried), environment_);
      if (!proposal)
        return std::unexpected(proposal.error());
      if (proposal->exhausted)
        break;
      auto walk = space_.walk(proposal->moves);
      if (!walk)
        return std::unexpected(walk.error());
      const planning::BuiltPlan &built = *(*walk)->built();
      const std::string plan = model::hash(built.plan);
      const bool is_new =
          std::ranges::none_of(proposed_, [&](const auto &known) { return known.second == plan; });
      proposed_.emplace_back(proposal->moves, plan);
      if (!is_new)
        continue;
      note(plan, proposal->analysis.text);
      const search::Recipe recipe = (*walk)->recipe();
      auto graph = search::rewritten(task_.graph, recipe.rewrites);
      if (!graph)
        return std::unexpected(graph.error());
      return search::TorchProposal{{std::move(*graph), recipe.rewrites, recipe.choices}, built};
    }
    return fail("it proposes nothing more that is new");
  }

  const TorchTask &task_;
  search::GraphSpace space_;
  SpaceEnvironment environment_;
  trainer::BuiltinPolicy policy_;
  trainer::Proposer proposer_;
  trainer::TrainingTask training_task_;
  std::vector<std::pair<trainer::Moves, std::string>> proposed_; ///< with their plans' hashes
};

} // namespace

std::unique_ptr<search::TorchPolicy>
make_builtin_module_policy(const trainer::PlainPolicy &policy, const TorchTask &task,
                           const model::DeviceInfo &device,
                           std::unique_ptr<search::TorchPolicy> search, ModulePolicy &told) {
  return std::make_unique<BuiltinModulePolicy>(policy, task, device, std::move(search), told);
}

} // namespace warpwright::server
