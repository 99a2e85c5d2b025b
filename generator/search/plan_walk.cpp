// Moves of a state, each a text and a change of the state; see plan_walk.h.
#include "generator/search/plan_walk.h"

#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/aten_lowering.h"
#include "generator/planning/region_kind.h"
#include "generator/rewrites/rewrite.h"
#include "generator/search/torch_search.h"

#include <algorithm>
#include <set>

namespace warpwright::search {
namespace {

using model::Graph;
using model::Node;

/// Limits of a list of moves: it has the slowest groups and the best guesses.
constexpr std::size_t kMostGroups = 12, kMostConfigurations = 24, kMostPlaces = 6;
/// Most parameters of a configuration in a move if they suffice to identify it, because a policy's answers are short.
constexpr std::size_t kMostParameters = 8;
/// Prefixes of the keys for choices that are made once per region; the region's key follows.
const std::string kFamily = "family ", kFusion = "fusion ", kLayout = "layout ",
                  kConfiguration = "configuration ";

/// True if the library can compute an anchor by itself. It cannot compute batch norms that update statistics, nor nodes
/// without an ATen operator.
bool has_operator(const ops::GraphIndex &graph, const Node &anchor) {
  return planning::lower_aten(graph, elements::region_of(graph, {anchor.name}, anchor.name))
      .has_value();
}

/// Parameters in which configurations differ; a missing parameter counts as a separate value.
std::set<std::string> varying(const std::vector<elements::Configuration> &configurations) {
  std::set<std::string> names, result;
  for (const elements::Configuration &configuration : configurations)
    for (const auto &[name, value] : configuration)
      names.insert(name);
  const auto value_of = [](const elements::Configuration &configuration, const std::string &name) {
    const auto found = configuration.find(name);
    return found == configuration.end() ? std::nullopt : std::optional(found->second);
  };
  for (const std::string &name : names)
    for (const elements::Configuration &configuration : configurations)
      if (value_of(configuration, name) != value_of(configurations.front(), name))
        result.insert(name);
  return result;
}

std::string text_of(const std::string &region, const elements::Configuration &configuration,
                    const std::set<std::string> &names) {
  std::string text = "configure(" + region;
  for (const std::string &name : names) {
    const auto value = configuration.find(name);
    text += "," + name + "=" +
            (value == configuration.end() ? std::string("none") : std::to_string(value->second));
  }
  return text + ")";
}

/// Subset of names that identifies each configuration, preferably names that most configurations have.
std::set<std::string> needed(std::set<std::string> names,
                             const std::vector<elements::Configuration> &configurations) {
  const auto tell_apart = [&](const std::set<std::string> &some) {
    std::set<std::string> texts;
    for (const elements::Configuration &configuration : configurations)
      texts.insert(text_of("", configuration, some));
    return texts.size() == configurations.size();
  };
  const auto having = [&](const std::string &name) {
    return std::ranges::count_if(
        configurations, [&](const auto &configuration) { return configuration.contains(name); });
  };
  std::vector<std::string> rarest_first(names.rbegin(), names.rend());
  std::ranges::stable_sort(rarest_first, {}, having);
  for (const std::string &name : rarest_first) {
    std::set<std::string> fewer = names;
    fewer.erase(name);
    if (names.size() > kMostParameters && tell_apart(fewer))
      names = std::move(fewer);
  }
  return names;
}

} // namespace

std::vector<RegionGroup> region_groups(const planning::BuiltPlan &built,
                                       const arch::NodeRates &rates) {
  const ops::GraphIndex graph(built.graph);
  std::vector<RegionGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const planning::BuiltRegion &region : built.regions) {
    const auto [place, is_new] = places.emplace(planning::kind_of(graph, region), groups.size());
    if (is_new)
      groups.emplace_back();
    groups[place->second].regions.push_back(&region);
    groups[place->second].seconds += estimated_seconds(graph, region.planned, rates);
  }
  std::ranges::stable_sort(groups, std::greater{}, &RegionGroup::seconds);
  return groups;
}

Result<PlanWalk> PlanWalk::begin(const model::Task &task, const Graph &graph,
                                 const elements::DeviceFacts &facts) {
  auto buffers = planning::plan_buffers(task, graph);
  if (!buffers)
    return std::unexpected(buffers.error());
  PlanWalk walk(graph, std::move(*buffers), facts);
  if (auto started = walk.start(); !started)
    return std::unexpected(started.error());
  return walk;
}

Result<PlanWalk> PlanWalk::from(const GraphState &state, const model::Task &task,
                                const Graph &graph, const elements::DeviceFacts &facts) {
  PlanWalk walk(graph, TRY(planning::plan_buffers(task, graph)), facts);
  walk.go_to({state, {}});
  if (!walk.built_)
    return std::unexpected(walk.built_.error());
  return walk;
}

/// Starts with the library for every node that it has an operator for, else for heavy nodes, else with any plan.
/// Errors: a graph without a plan.
Result<void> PlanWalk::start() {
  planning::PlanChoices all, heavy;
  const ops::GraphIndex index(traced_);
  for (const Node &node : traced_.nodes)
    if (planning::is_anchor(node)) {
      all.anchors[node.name] = {has_operator(index, node) ? elements::kLibraryFamily : "", false,
                                false};
      heavy.anchors[node.name] = {ops::is_product(node) ? elements::kLibraryFamily : "", false,
                                  false};
    }
  for (const planning::PlanChoices &choices : {all, heavy, planning::PlanChoices{}}) {
    go_to({{traced_, {}, choices}, {}});
    if (built_)
      return {};
  }
  return std::unexpected(built_.error());
}

void PlanWalk::go_to(Position position) {
  position_ = std::move(position);
  built_ = build_state(position_, buffers_, facts_);
  if (built_)
    position_.choices = built_->applied;
}

Recipe PlanWalk::recipe() const { return {position_.rewrites, position_.choices}; }

std::vector<std::string> PlanWalk::legal() const {
  std::vector<std::string> texts;
  for (Step &step : steps())
    texts.push_back(std::move(step.text));
  return texts;
}

Result<void> PlanWalk::make(const std::string &move) {
  for (const Step &step : steps())
    if (step.text == move) {
      Position next = position_;
      step.change(next);
      go_to(std::move(next));
      moves_.push_back(move);
      return {};
    }
  return fail("the move " + move + " is not legal here",
              built_ ? "Ask for the legal moves"
                     : "The state has no plan: " + describe(built_.error()));
}

std::vector<PlanWalk::Step> PlanWalk::steps() const {
  std::vector<Step> steps;
  if (!built_)
    return steps;
  if (moves_.empty())
    add_starts(steps);
  add_rewrites(steps);
  add_regions(steps);
  add_layouts(steps);
  if (facts_.tf32 && !position_.exact && uses_tf32(*built_))
    steps.push_back({"exact()", [](Position &next) {
                       next.exact = true;
                       for (auto &[anchor, choice] : next.choices.anchors)
                         choice.channels_last = false;
                     }});
  return steps;
}

void PlanWalk::add_starts(std::vector<Step> &steps) const {
  for (PlanStart &start : plan_starts(traced_, facts_))
    steps.push_back({"begin(with=" + std::string(start.name) + ")",
                     [start](Position &next) { next = {start, {}}; }});
}

void PlanWalk::add_rewrites(std::vector<Step> &steps) const {
  bool simplifies = false;
  std::map<std::string_view, std::vector<rewrites::Rewrite>> choices; // by rule
  for (rewrites::Rewrite &rewrite : rewrites::rewrites(ops::GraphIndex(position_.graph)))
    if (!rewrite.always)
      choices[rewrite.rule].push_back(std::move(rewrite));
    else if (rewrite.rule != kAttention)
      simplifies = true;
  const bool keeps_attention = std::ranges::none_of(
      position_.rewrites, [](const auto &words) { return words.starts_with(kPlanOfItsOwn); });
  if (simplifies)
    steps.push_back({"simplify()", [keeps_attention](Position &next) {
                       rewrites::Simplification how;
                       if (!keeps_attention)
                         how.without.emplace_back(kAttention);
                       rewrites::Simplified simplified = rewrites::simplify(next.graph, how);
                       next.graph = std::move(simplified.graph);
                       std::ranges::move(simplified.applied, std::back_inserter(next.rewrites));
                     }});
  for (const auto &[rule, places] : choices) {
    steps.push_back({"rewrite(rule=" + std::string(rule) + ")", [rule = rule](Position &next) {
                       if (auto changed = rewritten_everywhere(next, rule)) {
                         next.graph = std::move(changed->graph);
                         next.rewrites = std::move(changed->rewrites);
                       }
                     }});
    if (places.size() < 2)
      continue;
    for (std::size_t i = 0; i < std::min(places.size(), kMostPlaces); ++i)
      steps.push_back({"rewrite_at(rule=" + std::string(rule) + ",place=" + std::to_string(i) + ")",
                       [rewrite = places[i]](Position &next) {
                         static_cast<void>(search::rewrite(next, rewrite)); // found legal above
                       }});
  }
}

void PlanWalk::add_regions(std::vector<Step> &steps) const {
  const std::vector<RegionGroup> groups = region_groups(*built_, facts_.rates.node);
  for (std::size_t i = 0; i < std::min(groups.size(), kMostGroups); ++i) {
    const std::string region = "region=" + std::to_string(i);
    add_anchor_changes(steps, region, groups[i]);
    add_configurations(steps, region, groups[i]);
  }
}

void PlanWalk::add_configurations(std::vector<Step> &steps, const std::string &region,
                                  const RegionGroup &group) const {
  if (is_decided(group, kConfiguration))
    return;
  const planning::BuiltRegion &first = *group.regions.front();
  std::vector<elements::Configuration> offered = first.configurations;
  offered.resize(std::min(offered.size(), kMostConfigurations));
  std::vector<elements::Configuration> compared = offered;
  compared.push_back(first.configuration);
  const std::set<std::string> names = needed(varying(compared), offered);
  for (const elements::Configuration &configuration : offered) {
    if (configuration == first.configuration)
      continue;
    steps.push_back({text_of(region, configuration, names), [configuration, group](Position &next) {
                       for (const std::string &key : configure(next, group.regions, configuration))
                         next.decided.insert(kConfiguration + key);
                     }});
  }
}

bool PlanWalk::is_decided(const RegionGroup &group, const std::string &kind) const {
  return position_.decided.contains(kind +
                                    planning::region_key(group.regions.front()->planned.region));
}

PlanWalk::Step PlanWalk::choice_of(const RegionGroup &group, std::string text,
                                   const planning::AnchorChoice &choice,
                                   const std::string &kind) const {
  return {std::move(text), [choice, kind, group](Position &next) {
            choose(next, group.regions, choice);
            for (const planning::BuiltRegion *region : group.regions)
              next.decided.insert(kind + region->planned.region.anchor);
          }};
}

void PlanWalk::add_anchor_changes(std::vector<Step> &steps, const std::string &region,
                                  const RegionGroup &group) const {
  const planning::PlannedRegion &first = group.regions.front()->planned;
  if (!holds(position_.graph, first.region.anchor) || is_decided(group, kConfiguration))
    return;
  const ops::GraphIndex index(position_.graph);
  const Node &anchor = index.node(first.region.anchor);
  const planning::AnchorChoice &now = first.choice;
  std::vector<std::string> others;
  if (now.family != elements::kLibraryFamily && has_operator(index, anchor))
    others.emplace_back(elements::kLibraryFamily);
  for (const elements::Family *family : planning::claiming_families(index, anchor))
    others.emplace_back(family->name);
  const bool fuses = now.fuse || !is_decided(group, kFusion);
  for (const std::string &other : others)
    if (other != now.family && !is_decided(group, kFamily))
      steps.push_back(choice_of(group, "family(" + region + ",name=" + other + ")",
                                {other, fuses, now.channels_last && other == elements::kLibraryFamily},
                                kFamily));
  const bool fused = std::ranges::any_of(group.regions, [](const planning::BuiltRegion *alike) {
    return alike->planned.region.nodes.size() > 1;
  });
  if ((!now.fuse || fused) && !is_decided(group, kFusion))
    steps.push_back(choice_of(group, (now.fuse ? "separate(" : "fuse(") + region + ")",
                              {now.family, !now.fuse, now.channels_last}, kFusion));
  if (anchor.op == op::conv && now.family == elements::kLibraryFamily &&
      !is_decided(group, kLayout) && ((facts_.tf32 && !position_.exact) || now.channels_last))
    steps.push_back(choice_of(
        group, "layout(" + region + ",to=" + (now.channels_last ? "contiguous)" : "channels_last)"),
        {now.family, now.fuse, !now.channels_last}, kLayout));
}

/// Adds layout changes of all library convolutions at once, because single conversions cost as much as they save.
void PlanWalk::add_layouts(std::vector<Step> &steps) const {
  std::vector<std::string> convolutions;
  for (const planning::BuiltRegion &region : built_->regions)
    if (const std::string &anchor = region.planned.region.anchor;
        region.planned.choice.family == elements::kLibraryFamily &&
        holds(position_.graph, anchor) &&
        ops::GraphIndex(position_.graph).node(anchor).op == op::conv)
      convolutions.push_back(anchor);
  if (convolutions.size() < 2 || position_.decided.contains(kLayout))
    return;
  for (const bool channels_last : {true, false}) {
    planning::PlanChoices choices = position_.choices;
    for (const std::string &anchor : convolutions) {
      const auto [choice, is_new] =
          choices.anchors.try_emplace(anchor, planning::AnchorChoice{elements::kLibraryFamily});
      choice->second.channels_last = channels_last;
    }
    if (choices == position_.choices || (channels_last && (!facts_.tf32 || position_.exact)))
      continue;
    steps.push_back(
        {std::string("layouts(to=") + (channels_last ? "channels_last)" : "contiguous)"),
         [choices](Position &next) {
           next.choices = choices;
           next.decided.insert(kLayout);
         }});
  }
}

} // namespace warpwright::search
