#include "generator/search/measured_regions.h"

#include "generator/ops/graph_index.h"
#include "generator/planning/region_kind.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::search {
namespace {

/// Part of a plan's time that a new one has to promise, which is less than the noise of a measurement.
constexpr double kLeastGain = 0.01;

/// What the anchors of a measured plan took, each with the pointwise regions that read its results.
struct AnchorTimes {
  std::map<std::string, double> seconds;     ///< by the anchors of the graph
  std::vector<std::set<std::string>> groups; ///< anchors that one region computes
};

AnchorTimes anchor_times(const TorchVariant &variant) {
  AnchorTimes times;
  const std::map<std::string, double> seconds = region_seconds(variant);
  const planning::BuiltPlan &built = variant.proposal.built;
  const ops::GraphIndex graph(built.graph);
  std::map<std::string, std::string> anchor_of; ///< of the region that writes a value
  for (const planning::BuiltRegion &region : built.regions) {
    const elements::Region &own = region.planned.region;
    std::string anchor = own.anchor;
    std::set<std::string> group;
    for (const std::string &name : own.nodes)
      if (!anchor.empty() && planning::is_anchor(graph.node(name)) &&
          holds(variant.proposal.graph, name))
        group.insert(name);
    for (const std::string &input : own.inputs) // of a pointwise region: the last anchor that it reads from
      if (const auto from = anchor_of.find(input);
          own.anchor.empty() && from != anchor_of.end() &&
          (anchor.empty() || graph.position(from->second) > graph.position(anchor)))
        anchor = from->second;
    for (const std::string &output : own.outputs)
      if (!anchor.empty())
        anchor_of[output] = anchor;
    times.seconds[anchor] += seconds.at(planning::region_key(own));
    if (!group.empty())
      times.groups.push_back(std::move(group));
  }
  return times;
}

/// True for equal graphs, where a number that is not a number equals itself.
bool are_equal(const model::Graph &one, const model::Graph &other) {
  const auto is_nan = [](const model::Attribute &value) {
    const auto *number = std::get_if<double>(&value);
    return number && std::isnan(*number);
  };
  const auto are_alike = [&](const auto &a, const auto &b) {
    return a.first == b.first && (a.second == b.second || (is_nan(a.second) && is_nan(b.second)));
  };
  const auto are_same = [&](const model::Node &a, const model::Node &b) {
    return a.name == b.name && a.op == b.op && a.inputs == b.inputs && a.types == b.types &&
           std::ranges::equal(a.attributes, b.attributes, are_alike);
  };
  return one.outputs == other.outputs && one.updates == other.updates &&
         std::ranges::equal(one.nodes, other.nodes, are_same);
}

/// True if both plans compute the same graph in the same memory order, with choices of the same arithmetic.
bool are_comparable(const TorchVariant &one, const TorchVariant &other) {
  const auto turned = [](const TorchVariant &variant) {
    std::set<std::string> anchors;
    for (const planning::BuiltRegion &region : variant.proposal.built.regions)
      if (region.planned.choice.channels_last)
        anchors.insert(region.planned.region.anchor);
    return anchors;
  };
  return are_equal(one.proposal.graph, other.proposal.graph) && turned(one) == turned(other) &&
         one.proposal.built.applied.fast_math == other.proposal.built.applied.fast_math;
}

/// Anchors that have to take their choices from one plan: those that any plan computes in one region.
std::vector<std::set<std::string>> united(std::vector<std::set<std::string>> groups) {
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (std::size_t j = i + 1; j < groups.size(); ++j)
      if (std::ranges::any_of(groups[j],
                              [&](const std::string &one) { return groups[i].contains(one); })) {
        groups[i].merge(groups[j]);
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
        j = i; // the larger group may meet those in between
      }
  return groups;
}

/// True if two plans differ at most in the configurations of their regions.
bool have_same_regions(const TorchVariant &one, const TorchVariant &other) {
  const auto are_same = [](const planning::BuiltRegion &a, const planning::BuiltRegion &b) {
    return a.planned.region.nodes == b.planned.region.nodes &&
           a.planned.choice == b.planned.choice && a.is_written == b.is_written;
  };
  return std::ranges::equal(one.proposal.built.regions, other.proposal.built.regions, are_same) &&
         are_comparable(one, other);
}

void take(GraphState &state, const planning::BuiltPlan &from, const std::string &anchor) {
  const auto is_of_anchor = [&](const planning::BuiltRegion &region) {
    return region.planned.region.anchor == anchor;
  };
  const auto region = std::ranges::find_if(from.regions, is_of_anchor);
  if (region == from.regions.end())
    return; // it is computed in the region of another anchor of the group
  state.choices.anchors[anchor] = region->planned.choice;
  state.choices.configurations.erase(anchor);
  state.choices.written.erase(anchor);
  if (region->is_written)
    state.choices.written.emplace(anchor, from.applied.written.at(anchor));
  if (region->planned.family)
    state.choices.configurations[anchor] = region->configuration;
}

} // namespace

std::map<std::string, double> region_seconds(const TorchVariant &variant) {
  std::map<std::string, double> seconds;
  const planning::BuiltPlan &built = variant.proposal.built;
  const std::vector<double> &step_ns = variant.verdict.step_ns;
  if (step_ns.empty() || step_ns.size() != built.plan.steps.size())
    return seconds;
  std::vector<int> shares(step_ns.size(), 0);
  for (const planning::BuiltRegion &region : built.regions)
    for (const std::size_t step : region.steps)
      ++shares.at(step);
  for (const planning::BuiltRegion &region : built.regions) {
    double &own = seconds[planning::region_key(region.planned.region)];
    for (const std::size_t step : region.steps)
      own += step_ns[step] * 1e-9 / shares[step];
  }
  return seconds;
}

std::optional<GraphState> fastest_choices(const TorchVariant &best,
                                          const std::vector<TorchVariant> &tried) {
  std::vector<std::pair<const TorchVariant *, AnchorTimes>> measured;
  std::vector<std::set<std::string>> groups;
  for (const TorchVariant &variant : tried)
    if (variant.verdict.outcome == model::Outcome::Verified && !region_seconds(variant).empty() &&
        are_comparable(best, variant)) {
      const AnchorTimes &times = measured.emplace_back(&variant, anchor_times(variant)).second;
      groups.insert(groups.end(), times.groups.begin(), times.groups.end());
    }
  const auto own = std::ranges::find(measured, &best, &decltype(measured)::value_type::first);
  if (own == measured.end())
    return std::nullopt;
  const auto seconds_of = [](const AnchorTimes &times, const std::set<std::string> &group) {
    double sum = 0;
    for (const std::string &anchor : group)
      if (const auto found = times.seconds.find(anchor); found != times.seconds.end())
        sum += found->second;
    return sum;
  };
  GraphState state{best.proposal.graph, best.proposal.rewrites, best.proposal.built.applied};
  double gain = 0, whole = 0;
  for (const auto &[anchor, seconds] : own->second.seconds)
    whole += seconds;
  for (const std::set<std::string> &group : united(std::move(groups))) {
    const auto fastest = std::ranges::min_element(
        measured, {}, [&](const auto &one) { return seconds_of(one.second, group); });
    const double saved = seconds_of(own->second, group) - seconds_of(fastest->second, group);
    if (saved <= 0)
      continue;
    gain += saved;
    for (const std::string &anchor : group)
      take(state, fastest->first->proposal.built, anchor);
  }
  return gain > kLeastGain * whole ? std::optional(std::move(state)) : std::nullopt;
}

std::optional<GraphState> fastest_configurations(const TorchVariant &best,
                                                 const std::vector<TorchVariant> &tried) {
  const std::map<std::string, double> own = region_seconds(best);
  if (own.empty())
    return std::nullopt;
  const planning::BuiltPlan &built = best.proposal.built;
  const ops::GraphIndex graph(built.graph);
  std::map<std::string, std::vector<std::size_t>> alike; ///< places of regions, by kind
  for (std::size_t i = 0; i < built.regions.size(); ++i)
    alike[planning::kind_of(graph, built.regions[i])].push_back(i);
  struct Fastest {
    const planning::BuiltPlan *plan = nullptr;
    double seconds = 0;
  };
  std::map<std::string, Fastest> fastest;
  double whole = 0, gain = 0;
  for (const auto &[key, seconds] : own)
    whole += seconds;
  for (const TorchVariant &variant : tried) {
    const std::map<std::string, double> seconds = region_seconds(variant);
    if (variant.verdict.outcome != model::Outcome::Verified || seconds.empty() ||
        !have_same_regions(best, variant))
      continue;
    for (const auto &[kind, places] : alike) {
      double sum = 0;
      for (const std::size_t place : places)
        sum += seconds.at(planning::region_key(built.regions[place].planned.region));
      Fastest &least = fastest[kind];
      if (!least.plan || sum < least.seconds)
        least = {&variant.proposal.built, sum};
    }
  }
  GraphState state{best.proposal.graph, best.proposal.rewrites, built.applied};
  for (const auto &[kind, places] : alike) {
    if (fastest[kind].plan == &built)
      continue;
    gain -= fastest[kind].seconds;
    for (const std::size_t place : places) {
      const std::string &key = planning::region_key(built.regions[place].planned.region);
      gain += own.at(key);
      if (built.regions[place].planned.family)
        state.choices.configurations[key] = fastest[kind].plan->regions[place].configuration;
    }
  }
  return gain > kLeastGain * whole ? std::optional(std::move(state)) : std::nullopt;
}

} // namespace warpwright::search
