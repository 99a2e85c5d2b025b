#include "generator/ops/names.h"
#include "generator/planning/partition_work.h"

#include "generator/elements/element_forward.h"
#include "generator/elements/evaluations.h"
#include "generator/elements/memory_view.h"
#include "generator/families/registry.h"
#include "generator/ops/attributes.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/aten_lowering.h"
#include "generator/planning/layouts.h"

#include <algorithm>
#include <functional>

namespace warpwright::planning {

using model::Node;
using model::Shape;

std::vector<PlannedRegion> Partition::run() {
  strides_ = value_strides(graph_, choices_);
  find_live();
  grow_anchors();
  choose_memory();
  form_pointwise();
  merge_siblings();
  return in_order();
}

std::vector<const Node *> Partition::users(const std::string &name) const {
  std::vector<const Node *> result;
  for (const Node *user : graph_.users(name))
    if (live(user->name))
      result.push_back(user);
  return result;
}

void Partition::find_live() {
  std::vector<std::string> open = graph_.graph().outputs;
  for (const model::Update &update : graph_.graph().updates)
    open.push_back(update.value);
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!live_.insert(name).second)
      continue;
    for (const std::string &input : node(name).inputs)
      open.push_back(input);
  }
}

AnchorChoice Partition::choice_of(const std::string &anchor) const {
  const auto found = choices_.find(anchor);
  return found == choices_.end() ? AnchorChoice{} : found->second;
}

const elements::Family *Partition::family_of(const Node &anchor) const {
  const AnchorChoice choice = choice_of(anchor.name);
  const auto claiming = claiming_families(graph_, anchor);
  if (choice.family == elements::kLibraryFamily || claiming.empty())
    return nullptr;
  const auto chosen = std::ranges::find(claiming, choice.family, &elements::Family::name);
  return chosen == claiming.end() ? claiming.front() : *chosen;
}

void Partition::grow_anchors() {
  owners_.assign(graph_.graph().nodes.size(), -1);
  for (const Node &one : graph_.graph().nodes) {
    auto &operands = operands_.emplace_back();
    for (const std::string &input : one.inputs)
      operands.push_back(graph_.position(input));
  }
  for (const Node &anchor : graph_.graph().nodes) {
    if (!live(anchor.name) || !is_anchor(anchor) || owner_.contains(anchor.name))
      continue;
    Draft draft;
    draft.planned.choice = choice_of(anchor.name);
    draft.planned.family = family_of(anchor);
    draft.planned.choice.family =
        draft.planned.family ? std::string(draft.planned.family->name) : elements::kLibraryFamily;
    draft.planned.choice.channels_last =
        draft.planned.family ? draft.planned.family->channels_last : draft.planned.choice.channels_last;
    draft.planned.region.anchor = anchor.name;
    draft.members.insert(anchor.name);
    for (const Node *user : users(anchor.name))
      if (user->op == op::item)
        draft.members.insert(user->name);
    if (draft.planned.family && draft.planned.choice.fuse) {
      add_cats(draft);
      if (draft.planned.family->grow)
        grow_by_family(draft);
      else if (draft.planned.family->takes_epilogue)
        grow_epilogue(draft);
      if (draft.planned.choice.twin)
        add_twin(draft);
    }
    if (!draft.planned.family && draft.planned.choice.fuse)
      for (const std::string &follower : library_epilogue(graph_, anchor))
        draft.members.insert(follower);
    const int number = static_cast<int>(drafts_.size());
    for (const std::string &member : draft.members) {
      // Others compute it again, or read through a view, from its source.
      if (repeated_.contains(member) ||
          (ops::is_strided_view(node(member)) && !graph_.is_result(member)))
        continue;
      owner_.emplace(member, number);
      taken_.insert(member);
      owners_[graph_.position(member)] = number;
    }
    drafts_.push_back(std::move(draft));
  }
}

void Partition::grow_by_family(Draft &draft) {
  const elements::Region grown =
      draft.planned.family->grow(graph_, draft.planned.region.anchor, taken_);
  std::set<std::string> members;
  for (const std::string &name : grown.nodes)
    if (live(name) && !ops::is_generated(node(name)))
      members.insert(name);
  // The region sees only its members: values that it reads may depend on them by way of another region.
  const auto blocked = [&](const std::string &name) {
    return !members.contains(name) && depends_on(name, members);
  };
  for (const std::string &name : members)
    if (std::ranges::any_of(node(name).inputs, blocked))
      return;
  draft.members.insert(members.begin(), members.end());
  leave_to_readers(draft);
  for (const std::string &name : members)
    for (const std::string &input : node(name).inputs)
      if (!members.contains(input) && ops::is_pointwise(node(input)) &&
          elements::is_computed_too_often(graph_, input, members))
        costly_.insert(input);
}

void Partition::add_cats(Draft &draft) {
  if (!draft.planned.family->cats)
    return;
  std::set<std::string> members = draft.members;
  for (const std::string &name :
       draft.planned.family->cats(graph_, node(draft.planned.region.anchor)))
    if (!owner_.contains(name))
      members.insert(name);
  const auto blocked = [&](std::string name) { // a view of a member is read from its parts
    while (!members.contains(name) && ops::is_strided_view(node(name)))
      name = node(name).inputs[0];
    return !members.contains(name) && depends_on(name, members);
  };
  for (const std::string &name : members)
    if (std::ranges::any_of(node(name).inputs, blocked))
      return;
  draft.members = std::move(members);
}

bool Partition::depends_on(const std::string &value, const std::set<std::string> &members) const {
  std::vector<char> wanted(operands_.size(), 0), seen(operands_.size(), 0);
  for (const std::string &member : members)
    wanted[graph_.position(member)] = 1;
  std::vector<char> regions(drafts_.size(), 0);
  std::vector<std::size_t> open{graph_.position(value)};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (wanted[at])
      return true;
    if (seen[at])
      continue;
    seen[at] = 1;
    open.insert(open.end(), operands_[at].begin(), operands_[at].end());
    const int owner = owners_[at];
    if (owner < 0 || regions[owner])
      continue;
    regions[owner] = 1;
    for (const std::string &member : drafts_[owner].members) {
      const auto &operands = operands_[graph_.position(member)];
      open.insert(open.end(), operands.begin(), operands.end());
    }
  }
  return false;
}

void Partition::grow_epilogue(Draft &draft) {
  const std::string &anchor = draft.planned.region.anchor;
  std::vector<std::string> followers;
  const auto heads = [&](const std::string &name) {
    return name == anchor || std::ranges::find(followers, name) != followers.end();
  };
  for (std::size_t at = graph_.position(anchor) + 1; at < graph_.graph().nodes.size(); ++at) {
    const Node &next = graph_.graph().nodes[at];
    // First what most nodes of a large graph fail.
    if (owners_[at] >= 0 || std::ranges::none_of(next.inputs, heads) || !live(next.name) ||
        !ops::is_inline(next) || followers.size() >= elements::kMostNodes)
      continue;
    const bool fits = std::ranges::all_of(next.inputs, [&](const std::string &input) {
      if (heads(input))
        return elements::keeps_elements(graph_, next, input);
      return ops::is_buffer_leaf(node(input)) || ops::is_generated(node(input)) ||
             !depends_on(input, with(followers, anchor));
    });
    if (!fits)
      continue;
    followers.push_back(next.name);
    if (!elements::may_follow(graph_, followers, anchor))
      followers.pop_back();
  }
  // One that leaves may make another the last.
  while (std::erase_if(followers, [&, now = followers](const std::string &name) {
           return is_left_to_readers(node(name), now, anchor);
         }) > 0)
    ;
  draft.members.insert(followers.begin(), followers.end());
}

void Partition::add_twin(Draft &draft) {
  const Node &anchor = node(draft.planned.region.anchor);
  if (anchor.op != op::matmul)
    return;
  const auto left_of = [&](const Node &product) {
    return elements::view_of(graph_, product.inputs[0], strides_);
  };
  const std::function<bool(const Node &)> ends_here = [&](const Node &value) {
    const auto readers = users(value.name);
    return !graph_.is_result(value.name) && !readers.empty() &&
           std::ranges::all_of(readers, [&](const Node *reader) {
             return ops::is_inline(*reader) &&
                    elements::keeps_elements(graph_, *reader, value.name) &&
                    (draft.members.contains(reader->name) || ends_here(*reader));
           });
  };
  for (const Node &other : graph_.graph().nodes)
    if (other.op == op::matmul && other.name != anchor.name && live(other.name) &&
        !owner_.contains(other.name) && other.type() == anchor.type() &&
        node(other.inputs[1]).type() == node(anchor.inputs[1]).type() &&
        left_of(other) == left_of(anchor) && ends_here(other) &&
        !depends_on(other.name, {anchor.name})) {
      draft.members.insert(other.name);
      return;
    }
}

bool Partition::is_left_to_readers(const Node &last, const std::vector<std::string> &followers,
                                   const std::string &anchor) const {
  const std::set<std::string> members = with(followers, anchor);
  const auto is_member = [&](const std::string &name) { return members.contains(name); };
  const auto read_inside = [&](const Node *user) { return is_member(user->name); };
  if (graph_.is_result(last.name) || std::ranges::any_of(users(last.name), read_inside))
    return false;
  if (ops::is_view(last))
    return true;
  const std::int64_t elements = model::elements_of(last.type().shape);
  // Others want what it is computed from, so that it would be one more value to store.
  const auto is_stored_anyway = [&](std::string value) {
    const auto is_read_outside = [&](const Node *user) {
      return user != &last && !is_member(user->name);
    };
    while (!graph_.is_result(value) && std::ranges::none_of(users(value), is_read_outside)) {
      if (value == anchor || !ops::is_strided_view(node(value)))
        return false;
      value = node(value).inputs[0];
    }
    return true;
  };
  const std::function<bool(const std::string &)> is_at_hand = [&](const std::string &input) {
    if (!is_member(input))
      return 2 * model::elements_of(node(input).type().shape) <= elements;
    return is_stored_anyway(input) ||
           (input != anchor && std::ranges::all_of(node(input).inputs, is_at_hand));
  };
  const auto is_stored = [&](const std::string &name) {
    return in_memory(name) || (is_member(name) && is_stored_anyway(name));
  };
  return is_wider_copy(graph_, last) ||
         (std::ranges::all_of(last.inputs, is_at_hand) &&
          elements::cost_in_place(graph_, last.name, is_stored) <= kCheapChain);
}

std::set<std::string> Partition::with(const std::vector<std::string> &names,
                                      const std::string &other) {
  std::set<std::string> result(names.begin(), names.end());
  result.insert(other);
  return result;
}

bool is_wider_copy(const ops::GraphIndex &graph, const Node &node) {
  return node.op == op::cast && model::is_floating(node.type().dtype) &&
         model::size_bytes(node.type().dtype) >
             model::size_bytes(graph.node(node.inputs[0]).type().dtype);
}

std::vector<const elements::Family *> claiming_families(const ops::GraphIndex &graph,
                                                        const Node &node) {
  std::vector<const elements::Family *> result;
  for (const elements::Family &family : families::all())
    if (family.claims(graph, node))
      result.push_back(&family);
  return result;
}

bool is_anchor(const Node &node) {
  return !ops::is_buffer_leaf(node) && !ops::is_inline(node) && node.op != op::item;
}

std::vector<PlannedRegion> partition(const ops::GraphIndex &graph, const AnchorChoices &choices,
                                     const Siblings *siblings) {
  return Partition(graph, choices, siblings).run();
}

model::Graph with_result_nodes(const model::Graph &graph) {
  model::Graph result = graph;
  const ops::GraphIndex index(graph);
  std::set<std::string> used;
  int copies = 0;
  const auto own = [&](std::string &value) {
    std::string shown = value;
    while (index.node(shown).op == op::reshape)
      shown = index.node(shown).inputs[0];
    if (const Node &root = index.node(shown); (ops::is_pointwise(root) || is_anchor(root)) &&
                                              !ops::is_opaque(root) && !used.contains(shown))
      value = shown;
    const Node &source = index.node(value);
    if (!ops::is_buffer_leaf(source) && !ops::is_generated(source) && used.insert(value).second)
      return;
    std::string name;
    do
      name = "result_copy_" + std::to_string(copies++);
    while (std::ranges::find(graph.nodes, name, &Node::name) != graph.nodes.end());
    result.nodes.push_back(
        {name, op::reshape, {value}, {}, {{source.type().dtype, source.type().shape, {}}}});
    value = name;
  };
  for (std::string &output : result.outputs)
    own(output);
  for (model::Update &update : result.updates)
    own(update.value);
  return result;
}

} // namespace warpwright::planning
