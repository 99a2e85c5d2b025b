// Policy that asks a language model for moves of a plan, kernels for its regions, or a whole plan.
// Here its answer becomes a plan, or is refused with a reason that goes back to the model. The
// proposer's process holds the conversation (trainer/endpoint).
#include "generator/planning/module_task.h"
#include "generator/search/measured_regions.h"
#include "generator/search/plan_text.h"
#include "server/optimize/module_policy.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::server {
namespace {

using Json = nlohmann::json;

constexpr int kRefusals = 3; ///< in a row, after which the model is not asked again
constexpr std::size_t kStarts =
    3; ///< plans of the search that are tried for a verified one to begin with

/// An answer of the model, and what became of it.
struct Asked {
  Advice advice;
  std::string plan;    ///< hash of its plan; empty: there is none
  std::string refused; ///< why
};

Json json_of(const Asked &asked, const std::map<std::string, const model::Verdict *> &verdicts) {
  Json entry{{"moves", asked.advice.moves}, {"answer", asked.advice.answer}};
  const auto verdict = verdicts.find(asked.plan);
  if (!asked.refused.empty())
    entry["refused"] = asked.refused;
  else if (verdict == verdicts.end())
    entry["pending"] = true;
  else
    entry["verdict"] = model::to_json(*verdict->second);
  return entry;
}

/// The region of that name, or the one that begins a group of alike regions with a region of that
/// name.
const search::RegionGroup *group_of(const std::vector<search::RegionGroup> &groups,
                                    const std::string &name) {
  const auto found = std::ranges::find_if(groups, [&](const search::RegionGroup &group) {
    return std::ranges::any_of(group.regions, [&](const planning::BuiltRegion *region) {
      return planning::region_key(region->planned.region) == name;
    });
  });
  return found == groups.end() ? nullptr : &*found;
}

class EndpointModulePolicy final : public AdvisedModulePolicy {
public:
  EndpointModulePolicy(ProposeLine line, const TorchTask &task, const model::DeviceInfo &device,
                       std::unique_ptr<search::TorchPolicy> search, ModulePolicy &told)
      : AdvisedModulePolicy("endpoint", std::move(search), told), line_(std::move(line)),
        task_(task), device_(device), facts_(planning::facts_of(device)),
        graph_text_(graph_text(task, device)) {}

private:
  using Tried = std::vector<search::TorchVariant>;

  std::string described() const override {
    return "endpoint" + (line_.spent().empty() ? "" : ", " + line_.spent());
  }

  Result<std::optional<search::TorchProposal>> advised(const Tried &variants) override {
    if (!facts_ || !graph_text_)
      return std::unexpected(facts_ ? graph_text_.error() : facts_.error());
    const search::TorchVariant *best = search::best_torch_variant(variants);
    const bool in_work = handed_out_ > variants.size();
    if (!best && in_work && own_.empty())
      return std::nullopt;
    if (!best && own_.empty() && variants.size() < kStarts) {
      auto start = search().propose(variants);
      handed_out_ += start.has_value();
      if (start)
        return start;
    }
    if (variants.empty())
      return fail("the module has no plan to begin with");
    while (refusals_ < kRefusals) {
      auto advice = TRY(line_.ask(question(variants)));
      if (advice.waits && in_work)
        return std::nullopt;
      if (advice.exhausted || advice.waits)
        return fail(advice.refused.empty() ? "it proposes nothing more that is new"
                                           : "its answers could not be used: " + advice.refused);
      auto proposal = proposal_of(advice);
      const std::string plan = proposal ? model::hash(proposal->built.plan) : "";
      if (proposal && std::ranges::any_of(variants, [&](const search::TorchVariant &variant) {
            return model::hash(variant.proposal.built.plan) == plan;
          }))
        proposal = fail("an earlier answer led to this plan");
      own_.push_back({advice, proposal ? plan : "", proposal ? "" : describe(proposal.error())});
      if (proposal) {
        refusals_ = 0;
        ++handed_out_;
        note(plan, advice.analysis);
        return std::move(*proposal);
      }
      ++refusals_;
    }
    return fail("its answers could not be used: " + own_.back().refused);
  }

  Json question(const Tried &tried) {
    // A whole plan of the model's has no regions that it could change.
    const search::TorchVariant *base =
        search::fastest(tried, [](const search::TorchVariant &variant) {
          return !variant.proposal.built.regions.empty();
        });
    std::map<std::string, const model::Verdict *> verdicts;
    Json list = Json::array();
    for (const search::TorchVariant &variant : tried) {
      const std::string plan = model::hash(variant.proposal.built.plan);
      verdicts[plan] = &variant.verdict;
      if (std::ranges::find(own_, plan, &Asked::plan) ==
          own_.end()) // the search's: words, which are no moves
        list.push_back({{"moves", variant.proposal.built.plan.moves},
                        {"verdict", model::to_json(variant.verdict)}});
    }
    for (const Asked &asked : own_)
      list.push_back(json_of(asked, verdicts));
    Json params{{"task", model::to_json(task_.task)},
                {"graph", *graph_text_},
                {"device", model::to_json(device_)},
                {"tried", std::move(list)}};
    if (auto view = view_of(base ? *base : tried.front()))
      params["plan"] = std::move(*view);
    return params;
  }

  /// What the model may change; nullopt: nothing.
  std::optional<Json> view_of(const search::TorchVariant &base) {
    const search::TorchProposal &proposal = base.proposal;
    search::GraphState state = proposal;
    state.choices = proposal.built.applied;
    const auto walk = search::PlanWalk::from(state, task_.task, task_.graph, *facts_);
    if (proposal.built.regions.empty() || !walk)
      return std::nullopt;
    const std::string id = model::hash(proposal.built.plan);
    bases_.try_emplace(id, state);
    return Json{{"id", id},
                {"text", search::plan_text(proposal.built, search::region_seconds(base),
                                           facts_->rates.node)},
                {"legal", walk->legal()}};
  }

  /// The plan of an answer. Errors: why there is none, for the model.
  Result<search::TorchProposal> proposal_of(const Advice &advice) const {
    search::TorchProposal proposal;
    if (advice.plan) {
      proposal.graph = task_.graph;
      proposal.built.plan = *advice.plan;
      proposal.built.graph = task_.graph;
      proposal.built.plan.moves = {"written"};
    } else {
      const auto base = bases_.find(advice.base);
      if (base == bases_.end())
        return fail("the answer changes a plan that was not shown");
      static_cast<search::GraphState &>(proposal) = TRY(changed(base->second, advice));
      const auto buffers = TRY(planning::plan_buffers(task_.task, proposal.graph));
      proposal.built = TRY(search::build_state(proposal, buffers, *facts_));
    }
    for (const auto &[region, kernels] : proposal.choices.written)
      if (!proposal.built.applied.written.contains(region))
        return fail("the kernels of region " + region + " do not fit the plan after these moves");
    proposal.built.kernels =
        static_cast<int>(std::ranges::count_if(proposal.built.plan.steps, [](const auto &step) {
          return std::holds_alternative<model::LaunchStep>(step);
        }));
    if (proposal.built.kernels == 0)
      return fail("the plan has no kernel, only calls of the library");
    TRY(model::check_plan(proposal.built.plan, task_.task));
    return proposal;
  }

  /// A state after the moves of an answer, with its kernels. Errors: an illegal move; a region that
  /// the plan does not have; kernels that do not fit its buffers.
  Result<search::GraphState> changed(const search::GraphState &base, const Advice &advice) const {
    auto walk = TRY(search::PlanWalk::from(base, task_.task, task_.graph, *facts_));
    for (const std::string &move : advice.moves)
      TRY(walk.make(move));
    const planning::BuiltPlan &built = TRY(walk.built());
    search::GraphState state = walk.state();
    const ops::GraphIndex graph(built.graph);
    const auto groups = search::region_groups(built, facts_->rates.node);
    for (const auto &[name, kernels] : advice.regions) {
      const search::RegionGroup *group = group_of(groups, name);
      if (!group)
        return fail("the plan has no region " + name,
                    advice.moves.empty() ? "" : "Name one of the plan after the moves");
      const elements::Region &first = group->regions.front()->planned.region;
      if (auto fits = model::check_plan(kernels, planning::region_task(graph, first)); !fits)
        return fail("region " + name + ": " + describe(fits.error()),
                    "Its buffers are\n" + planning::region_interface(graph, first));
      const std::string signature = planning::region_signature(graph, first);
      for (const planning::BuiltRegion *region : group->regions)
        if (planning::region_signature(graph, region->planned.region) == signature)
          state.choices.written[planning::region_key(region->planned.region)] = {signature, kernels};
    }
    return state;
  }

  ProposeLine line_;
  const TorchTask &task_;
  const model::DeviceInfo device_;
  Result<elements::DeviceFacts> facts_;
  Result<std::string> graph_text_;
  std::vector<Asked> own_;
  std::map<std::string, search::GraphState> bases_; ///< plans that were shown, by hash
  std::size_t handed_out_ = 0;                      ///< plans, of the search's too
  int refusals_ = 0;                                ///< in a row
};

} // namespace

std::unique_ptr<search::TorchPolicy>
make_endpoint_module_policy(ProposeLine line, const TorchTask &task,
                            const model::DeviceInfo &device,
                            std::unique_ptr<search::TorchPolicy> search, ModulePolicy &told) {
  return std::make_unique<EndpointModulePolicy>(std::move(line), task, device, std::move(search),
                                                told);
}

} // namespace warpwright::server
