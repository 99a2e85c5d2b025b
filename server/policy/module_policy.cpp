// The trainer's own proposer over walks that are kept, so that each plan of a proposal is built once.
#include "server/policy/module_policy.h"

#include "generator/planning/module_task.h"
#include "generator/search/plan_walk.h"
#include "generator/search/graph_env.h"
#include "support/hash.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"
#include "trainer/policy/builtin.h"
#include "trainer/policy/proposer.h"

#include <algorithm>

namespace warpwright::server {
namespace {

using trainer::Moves;

constexpr std::size_t kMostWalks = 32; ///< kept at once; each holds a graph and a plan
constexpr int kAttempts = 6;           ///< for a plan that other moves have not made already
constexpr std::uint64_t kSeed = 1;

bool has_kernel(const model::Plan &plan) {
  return std::ranges::any_of(plan.steps, [](const model::Step &step) {
    return std::holds_alternative<model::LaunchStep>(step);
  });
}

/// States of one module; nothing is measured here.
class ModuleEnvironment final : public trainer::Environment {
public:
  ModuleEnvironment(const TorchTask &task, const model::DeviceInfo &device)
      : task_(task), device_(device) {}

  std::string_view name() const override { return "traced"; }

  Result<trainer::TaskView> open(const trainer::TrainingTask &task) override {
    if (graph_text_.empty()) {
      auto answer = generator::answer_graph_env("tasks", {{"graph", model::to_json(task_.graph)},
                                                          {"task", model::to_json(task_.task)},
                                                          {"device", model::to_json(device_)}});
      if (!answer)
        return fail(answer.error().message);
      graph_text_ = answer->at("kernels").at(0).at("graph");
    }
    trainer::TaskView view;
    view.id = task.id;
    view.definition = model::to_json(task_.task);
    view.graph = graph_text_;
    return view;
  }

  Result<trainer::StateRecord> state(const trainer::TrainingTask &, const Moves &moves) override {
    auto at = walk(moves);
    if (!at)
      return std::unexpected(at.error());
    return trainer::StateRecord{moves, {}, (*at)->legal()};
  }

  bool can_measure(const trainer::TrainingTask &, const Moves &moves) override {
    const auto at = walk(moves);
    return at && (*at)->built() && has_kernel((*at)->built()->plan);
  }
  Result<trainer::Measured> measure(const trainer::TrainingTask &, const Moves &,
                                    std::stop_token) override {
    return fail("nothing is measured here");
  }
  Result<trainer::Measured> confirm(const trainer::TrainingTask &, const Moves &,
                                    std::stop_token) override {
    return fail("nothing is measured here");
  }
  Result<trainer::Measured> measure_plan(const trainer::TrainingTask &, const model::Plan &,
                                         std::stop_token) override {
    return fail("nothing is measured here");
  }
  std::optional<model::DeviceInfo> device() override { return device_; }

  /// Errors: moves that are not legal; a graph that no plan computes.
  Result<const generator::PlanWalk *> walk(const Moves &moves) {
    if (const auto known = walks_.find(moves); known != walks_.end())
      return &known->second;
    if (moves.empty()) {
      const auto facts = generator::facts_of(device_);
      if (!facts)
        return std::unexpected(facts.error());
      auto first = generator::PlanWalk::begin(task_.task, task_.graph, *facts);
      if (!first)
        return std::unexpected(first.error());
      return &walks_.emplace(moves, std::move(*first)).first->second;
    }
    auto before = walk(Moves(moves.begin(), moves.end() - 1));
    if (!before)
      return before;
    generator::PlanWalk next = **before;
    if (auto made = next.make(moves.back()); !made)
      return std::unexpected(made.error());
    if (walks_.size() >= kMostWalks)
      std::erase_if(walks_, [](const auto &entry) { return !entry.first.empty(); });
    return &walks_.emplace(moves, std::move(next)).first->second;
  }

private:
  const TorchTask &task_;
  model::DeviceInfo device_;
  std::string graph_text_;
  std::map<Moves, generator::PlanWalk> walks_;
};

class AdvisedModulePolicy final : public generator::TorchPolicy {
public:
  AdvisedModulePolicy(const trainer::PlainPolicy &policy, const TorchTask &task,
                      const model::DeviceInfo &device,
                      std::unique_ptr<generator::TorchPolicy> search, ModulePolicy &told)
      : task_(task), environment_(task, device),
        policy_(policy.network, policy.vocabulary, {}, kSeed), proposer_(policy_, {}, kSeed),
        search_(std::move(search)), told_(told) {
    told_.described = "builtin";
    training_task_.language = trainer::kTorchLanguage;
    training_task_.path = task.task.file;
    training_task_.text = task.task.module->source;
    training_task_.kernel = task.task.module->model;
    training_task_.id = training_task_.kernel + "/" + sha256_hex(training_task_.text);
  }

  std::string_view name() const override { return "builtin"; }

  std::optional<generator::TorchProposal>
  propose(const std::vector<generator::TorchVariant> &tried) override {
    if (!ended_) {
      auto proposal = advised(tried);
      if (proposal)
        return std::move(*proposal);
      ended_ = true;
      told_.described = "builtin, then search: " + proposal.error().message;
    }
    return search_->propose(tried);
  }

private:
  std::vector<trainer::TriedVersion>
  versions_of(const std::vector<generator::TorchVariant> &tried) const {
    std::vector<trainer::TriedVersion> versions;
    std::map<std::string, const model::Verdict *> verdicts;
    for (const generator::TorchVariant &variant : tried)
      verdicts[model::hash(variant.proposal.built.plan)] = &variant.verdict;
    for (const auto &[moves, plan] : proposed_) { // also what is still being measured
      const auto verdict = verdicts.find(plan);
      versions.push_back(
          {moves, {}, verdict == verdicts.end() ? model::Verdict{} : *verdict->second});
      if (verdict == verdicts.end())
        versions.back().verdict.outcome = model::Outcome::Unsupported;
    }
    return versions;
  }

  /// Errors: why there is no more advice.
  Result<generator::TorchProposal> advised(const std::vector<generator::TorchVariant> &tried) {
    for (int i = 0; i < kAttempts; ++i) {
      auto proposal = proposer_.propose(training_task_, versions_of(tried), environment_);
      if (!proposal)
        return std::unexpected(proposal.error());
      if (proposal->exhausted)
        break;
      auto walk = environment_.walk(proposal->moves);
      if (!walk)
        return std::unexpected(walk.error());
      const generator::BuiltPlan &built = *(*walk)->built();
      const std::string plan = model::hash(built.plan);
      const bool is_new =
          std::ranges::none_of(proposed_, [&](const auto &known) { return known.second == plan; });
      proposed_.emplace_back(proposal->moves, plan);
      if (!is_new)
        continue;
      told_.analysis = proposal->analysis.text;
      told_.proposed[plan] = {"builtin", proposal->analysis.text, std::nullopt, {}};
      const generator::Recipe recipe = (*walk)->recipe();
      auto graph = generator::rewritten(task_.graph, recipe.rewrites);
      if (!graph)
        return std::unexpected(graph.error());
      return generator::TorchProposal{std::move(*graph), recipe.rewrites, recipe.choices, built};
    }
    return fail("it proposes nothing more that is new");
  }

  const TorchTask &task_;
  ModuleEnvironment environment_;
  trainer::BuiltinPolicy policy_;
  trainer::Proposer proposer_;
  std::unique_ptr<generator::TorchPolicy> search_;
  ModulePolicy &told_;
  trainer::TrainingTask training_task_;
  std::vector<std::pair<Moves, std::string>> proposed_; ///< with the hashes of their plans
  bool ended_ = false;
};

} // namespace

std::unique_ptr<generator::TorchPolicy>
make_module_policy(const trainer::PlainPolicy &policy, const TorchTask &task,
                   const model::DeviceInfo &device, std::unique_ptr<generator::TorchPolicy> search,
                   ModulePolicy &told) {
  return std::make_unique<AdvisedModulePolicy>(policy, task, device, std::move(search), told);
}

} // namespace warpwright::server
