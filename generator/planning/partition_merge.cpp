#include "generator/planning/partition_work.h"

#include "generator/elements/evaluations.h"
#include "generator/families/registry.h"
#include "generator/ops/op_traits.h"

#include <algorithm>
#include <functional>

namespace warpwright::planning {

using model::Node;
using model::Shape;

void Partition::close(Draft &draft) {
  std::set<std::string> nodes = draft.members;
  std::vector<std::string> open(draft.members.begin(), draft.members.end());
  std::set<std::string> reads;
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    for (const std::string &input : node(name).inputs) {
      if (nodes.contains(input))
        continue;
      const bool foreign = in_memory(input) && !draft.members.contains(input);
      if (foreign) {
        reads.insert(input);
        continue;
      }
      nodes.insert(input);
      open.push_back(input);
    }
  }
  elements::Region &region = draft.planned.region;
  region.nodes.assign(nodes.begin(), nodes.end());
  std::ranges::sort(region.nodes, {}, [&](const auto &name) { return graph_.position(name); });
  region.inputs.clear();
  for (const std::string &name : region.nodes)
    for (const std::string &input : node(name).inputs)
      if (reads.contains(input) && std::ranges::find(region.inputs, input) == region.inputs.end())
        region.inputs.push_back(input);
}

void Partition::form_pointwise() {
  const int anchored = static_cast<int>(drafts_.size());
  for (int i = 0; i < anchored; ++i)
    close(drafts_[i]);
  for (const Node &value : graph_.graph().nodes) {
    if (!memory_.contains(value.name) || joined_.contains(value.name))
      continue;
    Draft draft;
    draft.planned.family = pointwise_family();
    draft.planned.choice.family = "pointwise";
    draft.members.insert(value.name);
    close(draft);
    drafts_.push_back(std::move(draft));
  }
}

const elements::Family *Partition::pointwise_family() {
  for (const elements::Family &family : families::all())
    if (family.name == "pointwise")
      return &family;
  return nullptr;
}

std::set<int> Partition::sources(const Draft &draft) const {
  std::set<int> result;
  const auto add = [&](const std::string &value) {
    if (const auto producer = producer_.find(value); producer != producer_.end())
      result.insert(producer->second);
  };
  for (const std::string &input : draft.planned.region.inputs)
    if (joined_.contains(input))
      std::ranges::for_each(node(input).inputs, add);
    else
      add(input);
  return result;
}

void Partition::index_producers() {
  producer_.clear();
  for (std::size_t i = 0; i < drafts_.size(); ++i)
    for (const std::string &member : drafts_[i].members)
      producer_.emplace(member, static_cast<int>(i));
}

bool Partition::reaches(int from, int to, bool directly) const {
  std::vector<int> open;
  for (const int source : sources(drafts_[to]))
    if (directly || source != from)
      open.push_back(source);
  std::set<int> seen;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    if (at == from)
      return true;
    if (seen.insert(at).second)
      for (const int source : sources(drafts_[at]))
        open.push_back(source);
  }
  return false;
}

bool Partition::related(const Draft &a, const Draft &b) const {
  if (siblings_) {
    const auto names_of = [&](const Draft &draft) {
      std::set<std::string> names;
      for (const std::string &value : draft.members)
        if (const auto named = siblings_->find(value); named != siblings_->end())
          names.insert(named->second);
      return names;
    };
    const std::set<std::string> names = names_of(a);
    return std::ranges::any_of(names_of(b),
                               [&](const std::string &name) { return names.contains(name); });
  }
  const std::int64_t elements = model::elements_of(node(*a.members.begin()).type().shape);
  if (elements <= 1 << 14)
    return true; // launches dominate the cost of such regions
  return std::ranges::any_of(b.planned.region.inputs, [&](const std::string &input) {
    if (a.members.contains(input))
      return true;
    return model::elements_of(node(input).type().shape) * 2 > elements &&
           std::ranges::find(a.planned.region.inputs, input) != a.planned.region.inputs.end();
  });
}

bool Partition::repeats(const Draft &from, const Draft &by) const {
  std::set<std::string> nodes(from.planned.region.nodes.begin(), from.planned.region.nodes.end());
  nodes.insert(by.planned.region.nodes.begin(), by.planned.region.nodes.end());
  return std::ranges::any_of(by.planned.region.inputs, [&](const std::string &input) {
    return from.members.contains(input) && is_too_much(input, elements::evaluations(graph_, input, nodes), 1, nodes);
  });
}

void Partition::merge_siblings() {
  index_producers();
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    for (std::size_t j = i + 1; j < drafts_.size(); ++j) {
      Draft &a = drafts_[i], &b = drafts_[j];
      if (!a.planned.region.anchor.empty() || !b.planned.region.anchor.empty())
        continue;
      const Shape &shape = node(*a.members.begin()).type().shape;
      if (shape != node(*b.members.begin()).type().shape || !related(a, b) ||
          a.planned.region.nodes.size() + b.planned.region.nodes.size() > elements::kMostNodes ||
          reaches(static_cast<int>(i), static_cast<int>(j), false) ||
          reaches(static_cast<int>(j), static_cast<int>(i), false) || repeats(a, b) || repeats(b, a))
        continue;
      a.members.insert(b.members.begin(), b.members.end());
      close(a);
      drafts_.erase(drafts_.begin() + static_cast<std::ptrdiff_t>(j));
      index_producers();
      j = i; // drafts that did not fit before may fit now
    }
  }
}

std::vector<PlannedRegion> Partition::in_order() {
  index_producers();
  for (Draft &draft : drafts_) {
    elements::Region &region = draft.planned.region;
    for (const std::string &name : region.nodes) {
      if (!draft.members.contains(name))
        continue;
      const bool read =
          graph_.is_result(name) || places_.contains(name) ||
          std::ranges::any_of(drafts_, [&](const Draft &other) {
            return &other != &draft && std::ranges::find(other.planned.region.inputs, name) !=
                                           other.planned.region.inputs.end();
          });
      if (read)
        region.outputs.push_back(name);
    }
    for (const auto *values : {&region.inputs, &region.outputs})
      for (const std::string &value : *values)
        if (const auto known = strides_.find(value); known != strides_.end())
          region.strides.insert(*known);
    for (const std::string &output : region.outputs)
      if (const auto place = places_.find(output); place != places_.end())
        region.places.insert(*place);
  }
  std::vector<PlannedRegion> result;
  std::vector<bool> done(drafts_.size());
  const std::function<void(int)> visit = [&](int i) {
    if (done[i])
      return;
    done[i] = true;
    for (const int source : sources(drafts_[i]))
      visit(source);
    if (!drafts_[i].planned.region.outputs.empty())
      result.push_back(drafts_[i].planned);
  };
  for (std::size_t i = 0; i < drafts_.size(); ++i)
    visit(static_cast<int>(i));
  return result;
}

} // namespace warpwright::planning
