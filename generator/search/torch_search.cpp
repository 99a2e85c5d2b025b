// Descent over single changes of plans, and the search that uses it; see torch_search.h.
#include "generator/search/torch_search.h"
#include "generator/ops/op_traits.h"

#include "generator/ops/cost.h"
#include "generator/ops/names.h"
#include "generator/planning/layouts.h"
#include "generator/planning/region_kind.h"
#include "generator/rewrites/rewrite.h"
#include "generator/search/measured_regions.h"
#include "generator/search/plan_starts.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::search {
namespace {

using model::Graph;
using model::Node;

/// A configuration of alike regions.
using KindConfiguration = std::pair<std::string, elements::Configuration>;

/// A change of the fastest variant so far, weighted by the time that it may affect.
struct Change : GraphState {
  double weight = 0;
  std::vector<KindConfiguration> configurations = {}; ///< all that differs, if nothing else does
};

} // namespace

double estimated_seconds(const ops::GraphIndex &graph, const planning::PlannedRegion &planned,
                         const arch::NodeRates &rates) {
  double bytes = 0, flops = 0;
  for (const auto *values : {&planned.region.inputs, &planned.region.outputs})
    for (const std::string &value : *values)
      bytes += ops::bytes_of(graph.node(value).type());
  if (!planned.region.anchor.empty())
    flops = ops::cost_of(graph, graph.node(planned.region.anchor)).flops;
  return rates.seconds(bytes, flops);
}

struct DescentPolicy::State {
  const model::Task &task;
  Graph traced;
  elements::DeviceFacts facts;
  std::vector<GraphState> starts;    ///< in the order to be tried
  std::vector<GraphState> fallbacks; ///< plain states, tried only if nothing else is right or left
  std::size_t next_start = 0, next_fallback = 0;
  std::vector<Change> changes;           ///< of the fastest so far, the best last
  std::optional<std::size_t> changes_of; ///< index of the tried variant that `changes` start from
  std::vector<model::Plan> proposed;     ///< without moves
  std::vector<GraphState> seen;          ///< built with the device's facts as they are, without their graphs
  std::set<KindConfiguration> timed;     ///< in right plans whose steps were timed
  std::set<std::size_t> timed_variants;  ///< the tried variants that `timed` includes
  std::string why;

  /// The proposal for a state; nullopt if the state has no plan, no kernel of this project, or a plan proposed before.
  std::optional<TorchProposal> build(const GraphState &state) {
    const auto is_same = [&](const GraphState &other) {
      return other.rewrites == state.rewrites && other.choices == state.choices && other.exact == state.exact;
    };
    if (std::ranges::any_of(seen, is_same)) // building its plan again would take long for a large graph
      return std::nullopt;
    seen.push_back({{}, state.rewrites, state.choices, state.exact});
    auto buffers = planning::plan_buffers(task, state.graph);
    if (!buffers)
      return note(buffers.error());
    auto built = build_state(state, *buffers, facts);
    if (!built)
      return note(built.error());
    model::Plan bare = built->plan;
    bare.moves.clear(); // other moves may end in the same plan
    if (built->kernels == 0 || std::ranges::find(proposed, bare) != proposed.end())
      return std::nullopt;
    proposed.push_back(std::move(bare));
    return TorchProposal{state, std::move(*built)};
  }

  /// The proposal for the first state from `next` on with a new plan; nullopt if none is left.
  std::optional<TorchProposal> build_next(const std::vector<GraphState> &states,
                                          std::size_t &next) {
    while (next < states.size())
      if (auto proposal = build(states[next++]))
        return proposal;
    return std::nullopt;
  }

  /// True if each proposal has its verdict; variants of another policy may lie between.
  bool all_judged(const std::vector<TorchVariant> &tried) const {
    const auto own = std::ranges::count_if(tried, [&](const TorchVariant &variant) {
      model::Plan bare = variant.proposal.built.plan;
      bare.moves.clear();
      return std::ranges::find(proposed, bare) != proposed.end();
    });
    return own >= std::ssize(proposed);
  }

  /// Keeps the first error as the reason.
  std::optional<TorchProposal> note(const Error &error) {
    if (why.empty())
      why = describe(error);
    return std::nullopt;
  }

  void make_starts() {
    starts.clear();
    fallbacks.clear();
    next_start = next_fallback = 0;
    for (PlanStart &start : plan_starts(traced, facts))
      (start.fallback ? fallbacks : starts).push_back(std::move(start));
  }

  /// A refused plan with TF32 shows that PyTorch did not use TF32; all later plans are then FP32-accurate. Without TF32 a
  /// refused plan shows that its functions were too inaccurate.
  void learn_accuracy(const std::vector<TorchVariant> &tried) {
    for (const TorchVariant &variant : tried) {
      // A plan that rounds operands may be wrong for that.
      const bool is_narrow =
          std::ranges::any_of(variant.proposal.rewrites,
                              [](const std::string &words) { return words.starts_with(kNarrow); });
      // Kernels of other authors may be wrong for any reason.
      const bool is_written = std::ranges::any_of(variant.proposal.built.regions,
                                                  &planning::BuiltRegion::is_written);
      if (variant.verdict.outcome != model::Outcome::WrongResult || is_narrow || is_written)
        continue;
      const int fast_math = variant.proposal.built.applied.fast_math;
      if (uses_tf32(variant.proposal.built) && facts.tf32)
        facts.tf32 = false;
      else if (fast_math > 0 && fast_math <= facts.fast_math)
        facts.fast_math = fast_math - 1;
      else
        continue;
      seen.clear();
      make_starts();
      changes_of.reset();
    }
  }

  /// Estimated seconds of a region. A recurrent layer waits more
  /// than it computes, so its family's larger estimate counts.
  double seconds_of(const ops::GraphIndex &planned, const planning::PlannedRegion &region) const {
    const double seconds = estimated_seconds(planned, region, facts.rates.node);
    if (!region.family || !region.family->estimate || region.region.anchor.empty())
      return seconds;
    const Node &anchor = planned.node(region.region.anchor);
    return anchor.op == op::aten
               ? std::max(seconds, region.family->estimate(planned, anchor, facts) * 1e-6)
               : seconds;
  }

  void note_timed(const std::vector<TorchVariant> &tried) {
    for (std::size_t i = 0; i < tried.size(); ++i) {
      const planning::BuiltPlan &built = tried[i].proposal.built;
      if (tried[i].verdict.outcome != model::Outcome::Verified || region_seconds(tried[i]).empty() ||
          !timed_variants.insert(i).second)
        continue;
      const ops::GraphIndex graph(built.graph);
      for (const planning::BuiltRegion &region : built.regions)
        timed.emplace(planning::kind_of(graph, region), region.configuration);
    }
  }

  /// True if each configuration of a change, by itself, has been timed.
  bool is_timed(const Change &change) const {
    return !change.configurations.empty() &&
           std::ranges::all_of(change.configurations,
                               [&](const KindConfiguration &one) { return timed.contains(one); });
  }

  /// Collects the changes of a variant: single ones, and other configurations of all its regions at once.
  void make_changes(const TorchVariant &variant) {
    const TorchProposal &from = variant.proposal;
    const std::map<std::string, double> measured = region_seconds(variant);
    changes.clear();
    const GraphState base{from.graph, from.rewrites, from.built.applied};
    const ops::GraphIndex planned(from.built.graph), index(base.graph);
    std::map<std::string, AlikeRegions> alike;
    double total = 0;
    std::map<std::string, double> seconds;
    const auto seconds_of_region = [&](const planning::BuiltRegion &region) {
      const auto known = measured.find(planning::region_key(region.planned.region));
      return known == measured.end() ? seconds_of(planned, region.planned) : known->second;
    };
    for (const planning::BuiltRegion &region : from.built.regions) {
      alike[planning::kind_of(planned, region)].push_back(&region);
      total += seconds[region.planned.region.anchor] = seconds_of_region(region);
    }
    std::vector<Change> together; ///< the next configuration of every kind, then the one after it, and so on
    for (const auto &[kind, regions] : alike) {
      double weight = 0;
      for (const planning::BuiltRegion *region : regions)
        weight += seconds_of_region(*region);
      change_configurations(base, kind, regions, weight, together);
      if (holds(base.graph, regions.front()->planned.region.anchor))
        change_anchors(base, index, regions, weight);
    }
    for (Change &change : together)
      if (change.configurations.size() > 1 && !measured.empty()) // else nobody would know which of them was faster
        changes.push_back(std::move(change));
    change_layouts(base, total);
    change_functions(from.built, base, total);
    for (const rewrites::Rewrite &rewrite : rewrites::rewrites(index)) {
      if (rewrite.always || rewrite.rule == kAttention || rewrite.rule == kConvolutionEpilogue)
        continue;
      Change change{base};
      if (!search::rewrite(change, rewrite))
        continue;
      const auto own = seconds.find(rewrite.node);
      change.weight =
          (rewrite.rule == kPlanOfItsOwn ? 1 : 0.3) * (own == seconds.end() ? total : own->second);
      changes.push_back(std::move(change));
    }
    std::ranges::stable_sort(changes, {}, &Change::weight);
  }

  void change_configurations(const GraphState &base, const std::string &kind, const AlikeRegions &regions,
                             double weight, std::vector<Change> &together) {
    const planning::BuiltRegion &first = *regions.front();
    std::size_t rank = 0;
    for (const elements::Configuration &configuration : first.configurations) {
      const KindConfiguration tested{kind, configuration};
      if (configuration == first.configuration || timed.contains(tested))
        continue;
      const double likely = weight / (1.5 + static_cast<double>(rank));
      if (together.size() == rank)
        together.push_back({base});
      for (Change *change : {&changes.emplace_back(Change{base}), &together[rank]}) {
        change->weight += likely;
        change->configurations.push_back(tested);
        configure(*change, regions, configuration);
      }
      ++rank;
    }
  }

  /// A family's estimate for an anchor, microseconds; 0 if the family has none.
  double estimate_of(const ops::GraphIndex &index, const Node &anchor,
                     std::string_view name) const {
    for (const elements::Family *family : planning::claiming_families(index, anchor))
      if (family->name == name && family->estimate)
        return family->estimate(index, anchor, facts);
    return 0;
  }

  void change_anchors(const GraphState &base, const ops::GraphIndex &index,
                      const AlikeRegions &regions, double weight) {
    const planning::AnchorChoice &now = regions.front()->planned.choice;
    const Node &anchor = index.node(regions.front()->planned.region.anchor);
    std::vector<std::string> others{elements::kLibraryFamily};
    for (const elements::Family *family : planning::claiming_families(index, anchor))
      others.emplace_back(family->name);
    const auto with = [&](const planning::AnchorChoice &choice, double likely) {
      choose(changes.emplace_back(Change{base, weight * likely}), regions, choice);
    };
    const double least = estimate_of(index, anchor, now.family);
    for (const std::string &other : others)
      if (other != now.family) {
        // A family with a higher estimate is less likely to be faster.
        const double time = estimate_of(index, anchor, other);
        const double likely = least > 0 && time > 0 ? std::min(1.0, least / time) : 1.0;
        // The library's takes over the layout, else all nodes around would be written anew.
        with({other, true, now.channels_last && other == elements::kLibraryFamily},
             (ops::is_product(anchor) ? 1.0 : 0.2) * likely);
      }
    with({now.family, !now.fuse, now.channels_last}, 0.25);
    if (now.twin)
      with({now.family, now.fuse, now.channels_last, false}, 0.25);
    if (anchor.op == op::conv && now.family == elements::kLibraryFamily &&
        (facts.tf32 || now.channels_last))
      with({now.family, now.fuse, !now.channels_last}, 0.8);
  }

  /// Adds approximate functions where a kernel has functions that the GPU approximates.
  void change_functions(const planning::BuiltPlan &built, const GraphState &base, double weight) {
    constexpr std::string_view kFunctions[] = {"expf(",  "logf(",   "sqrtf(",
                                               "log2f(", "log10f(", "erff("};
    const bool has_functions =
        std::ranges::find(base.graph.nodes, op::div, &Node::op) != base.graph.nodes.end() ||
        std::ranges::any_of(kFunctions, [&](std::string_view one) {
          return built.plan.source.find(one) != std::string::npos;
        });
    if (has_functions && base.choices.fast_math < facts.fast_math)
      changes.emplace_back(Change{base, weight * 0.5}).choices.fast_math = facts.fast_math;
  }

  /// Adds layout changes of all library convolutions at once, because single conversions cost as much as they save.
  void change_layouts(const GraphState &base, double weight) {
    for (const bool channels_last : {true, false}) {
      if (channels_last && !facts.tf32)
        continue;
      planning::PlanChoices choices = base.choices;
      for (const Node &node : base.graph.nodes)
        if (node.op == op::conv) {
          planning::AnchorChoice &choice =
              choices.anchors
                  .try_emplace(node.name, planning::AnchorChoice{elements::kLibraryFamily})
                  .first->second;
          if (choice.family == elements::kLibraryFamily)
            choice.channels_last = channels_last;
        }
      if (choices != base.choices)
        changes.emplace_back(Change{base, weight * 0.9}).choices = std::move(choices);
    }
  }
};

DescentPolicy::DescentPolicy(const model::Task &task, const Graph &graph,
                             const elements::DeviceFacts &facts, std::optional<Recipe> known)
    : state_(new State{.task = task, .traced = graph, .facts = facts}) {
  state_->make_starts();
  if (!known)
    return;
  auto start = rewritten(planning::with_separate_bias(graph), known->rewrites);
  if (start)
    state_->starts.insert(state_->starts.begin(), {std::move(*start), std::move(known->rewrites),
                                                   std::move(known->choices)});
}

DescentPolicy::~DescentPolicy() = default;

const std::string &DescentPolicy::why() const { return state_->why; }

std::optional<TorchProposal> DescentPolicy::propose(const std::vector<TorchVariant> &tried) {
  State &state = *state_;
  state.learn_accuracy(tried);
  state.note_timed(tried);
  if (auto proposal = state.build_next(state.starts, state.next_start))
    return proposal;
  const TorchVariant *best = best_torch_variant(tried);
  const auto at = best ? static_cast<std::size_t>(best - tried.data()) : 0;
  const bool all_tried = state.all_judged(tried);
  if (!best) {
    if (!all_tried)
      return std::nullopt;
    if (auto proposal = state.build_next(state.fallbacks, state.next_fallback))
      return proposal;
    if (tried.empty())
      return std::nullopt;
  }
  // While no result is right, changes start from the first guess.
  if (best ? state.changes_of != at : !state.changes_of) {
    state.make_changes(tried[at]);
    state.changes_of = at;
  }
  if (best)
    for (const auto &fastest : {fastest_choices, fastest_configurations})
      if (const auto mixed = fastest(*best, tried))
        if (auto proposal = state.build(*mixed))
          return proposal;
  while (!state.changes.empty()) {
    const Change change = std::move(state.changes.back());
    state.changes.pop_back();
    if (state.is_timed(change))
      continue;
    if (auto proposal = state.build(change))
      return proposal;
  }
  return all_tried ? state.build_next(state.fallbacks, state.next_fallback) : std::nullopt;
}

Recipe recipe_of(const TorchProposal &proposal) {
  return {proposal.rewrites, proposal.built.applied};
}

const TorchVariant *best_torch_variant(const std::vector<TorchVariant> &variants) {
  return fastest(variants, [](const TorchVariant &) { return true; });
}

std::vector<TorchVariant> search_torch(const model::Task &task, TorchPolicy &policy,
                                       SearchLimits limits, const TorchSearchEvents &events,
                                       std::stop_token stop, std::vector<TorchVariant> tried) {
  limits.free_refusals = limits.max_variants / 2;
  limits.outlasts_refusals = true;
  const auto propose = [&](const std::vector<TorchVariant> &so_far) -> std::optional<TorchVariant> {
    auto proposal = policy.propose(so_far);
    return proposal ? std::optional(TorchVariant{std::move(*proposal), {}}) : std::nullopt;
  };
  const auto plan_of = [](const TorchVariant &variant) { return &variant.proposal.built.plan; };
  return run_search<TorchVariant>(task, propose, plan_of, limits, events, std::move(stop),
                                  std::move(tried));
}

} // namespace warpwright::search
