#include "generator/fusion/partition.h"

#include "generator/fusion/aten_lowering.h"
#include "generator/fusion/element_forward.h"
#include "generator/fusion/layouts.h"
#include "generator/fusion/op_traits.h"
#include "generator/fusion/row_regions.h"
#include "generator/graph/attributes.h"

#include <algorithm>
#include <functional>

namespace warpwright::generator {
namespace {

using model::Node;
using model::Shape;

/// In units of recompute_cost: what an element may cost that is computed again, or for each element of a larger value.
constexpr int kCheapChain = 40;
/// Nodes of one region: a kernel's text should stay readable, and compile.
constexpr std::size_t kMostNodes = 160;

class Partition {
public:
  Partition(const GraphIndex &graph, const AnchorChoices &choices)
      : graph_(graph), choices_(choices) {}

  std::vector<PlannedRegion> run() {
    strides_ = value_strides(graph_, choices_);
    find_live();
    grow_anchors();
    choose_memory();
    form_pointwise();
    merge_siblings();
    return in_order();
  }

private:
  struct Draft {
    PlannedRegion planned;
    std::set<std::string> members; ///< nodes that only this region computes
  };

  bool live(const std::string &name) const { return live_.contains(name); }
  const Node &node(const std::string &name) const { return graph_.node(name); }
  /// The users of a value that count.
  std::vector<const Node *> users(const std::string &name) const {
    std::vector<const Node *> result;
    for (const Node *user : graph_.users(name))
      if (live(user->name))
        result.push_back(user);
    return result;
  }

  void find_live() {
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

  AnchorChoice choice_of(const std::string &anchor) const {
    const auto found = choices_.find(anchor);
    return found == choices_.end() ? AnchorChoice{} : found->second;
  }

  void grow_anchors() {
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
      const auto claiming = claiming_families(graph_, anchor);
      if (draft.planned.choice.family != "aten" && !claiming.empty()) {
        draft.planned.family = claiming.front();
        for (const Family *family : claiming)
          if (family->name == draft.planned.choice.family)
            draft.planned.family = family;
      }
      draft.planned.choice.family =
          draft.planned.family ? std::string(draft.planned.family->name) : "aten";
      draft.planned.region.anchor = anchor.name;
      draft.members.insert(anchor.name);
      for (const Node *user : users(anchor.name))
        if (user->op == "item")
          draft.members.insert(user->name);
      if (draft.planned.family && draft.planned.choice.fuse) {
        if (draft.planned.family->name == "rows" && is_row_anchor(anchor))
          grow_rows(draft);
        else if (draft.planned.family->takes_epilogue)
          grow_epilogue(draft);
      }
      if (!draft.planned.family && draft.planned.choice.fuse)
        for (const std::string &follower : library_epilogue(graph_, anchor))
          draft.members.insert(follower);
      const int number = static_cast<int>(drafts_.size());
      for (const std::string &member : draft.members) {
        owner_.emplace(member, number);
        owners_[graph_.position(member)] = number;
      }
      drafts_.push_back(std::move(draft));
    }
  }

  void grow_rows(Draft &draft) {
    std::set<std::string> taken;
    for (const auto &[name, number] : owner_)
      taken.insert(name);
    const Region grown = grow_row_region(graph_, draft.planned.region.anchor, taken);
    std::set<std::string> members;
    for (const std::string &name : grown.nodes)
      if (live(name) && !is_generated(node(name)))
        members.insert(name);
    // The region knows of no other: what it reads may by way of another region depend on it.
    const auto blocked = [&](const std::string &name) {
      return !members.contains(name) && depends_on(name, members);
    };
    for (const std::string &name : members)
      if (std::ranges::any_of(node(name).inputs, blocked))
        return;
    draft.members.insert(members.begin(), members.end());
  }

  /// Whether a value is computed from one of `members`, regions being computed as a whole.
  bool depends_on(const std::string &value, const std::set<std::string> &members) const {
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

  void grow_epilogue(Draft &draft) {
    const std::string &anchor = draft.planned.region.anchor;
    std::vector<std::string> followers;
    const auto heads = [&](const std::string &name) {
      return name == anchor || std::ranges::find(followers, name) != followers.end();
    };
    for (std::size_t at = graph_.position(anchor) + 1; at < graph_.graph().nodes.size(); ++at) {
      const Node &next = graph_.graph().nodes[at];
      if (!live(next.name) || owner_.contains(next.name) || !is_inline(next) ||
          followers.size() >= kMostNodes)
        continue;
      if (std::ranges::none_of(next.inputs, heads))
        continue;
      const bool fits = std::ranges::all_of(next.inputs, [&](const std::string &input) {
        if (heads(input))
          return keeps_elements(graph_, next, input);
        return is_buffer_leaf(node(input)) || is_generated(node(input)) ||
               !depends_on(input, with(followers, anchor));
      });
      if (!fits)
        continue;
      followers.push_back(next.name);
      if (!may_follow(graph_, followers, anchor))
        followers.pop_back();
    }
    // Views at the end are left to those who read them, but for results.
    for (std::size_t i = followers.size(); i-- > 0;) {
      const Node &last = node(followers[i]);
      const bool read = std::ranges::any_of(followers, [&](const std::string &other) {
        return std::ranges::find(node(other).inputs, last.name) != node(other).inputs.end();
      });
      if (is_view(last) && !read && !graph_.is_result(last.name))
        followers.erase(followers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    draft.members.insert(followers.begin(), followers.end());
  }

  static std::set<std::string> with(const std::vector<std::string> &names,
                                    const std::string &other) {
    std::set<std::string> result(names.begin(), names.end());
    result.insert(other);
    return result;
  }

  /// In memory whatever is decided: leaves, and members of anchored regions (their outputs).
  bool in_memory(const std::string &name) const {
    return is_buffer_leaf(node(name)) || owner_.contains(name) || memory_.contains(name);
  }

  /// How often an anchor's loops load an element of what they read.
  static std::int64_t reuse(const Node &anchor, const GraphIndex &graph) {
    if (anchor.op == "matmul" || anchor.op == "conv" || anchor.op == "attention")
      return 64;
    if (anchor.op.ends_with("_pool") && find_attribute(anchor, "kernel")) {
      std::int64_t volume = 1;
      const std::size_t rank = graph.node(anchor.inputs[0]).type().shape.size() - 2;
      const Shape kernel = list_attribute(anchor, "kernel", rank, 1),
                  stride = list_attribute(anchor, "stride", rank, 1);
      for (std::size_t i = 0; i < kernel.size(); ++i)
        volume *= std::max<std::int64_t>(1, kernel[i] / std::max<std::int64_t>(1, stride[i]));
      return volume;
    }
    return 2;
  }

  /// Decides which inline values lie in memory, users before producers.
  void choose_memory() {
    for (std::size_t at = graph_.graph().nodes.size(); at-- > 0;) {
      const Node &value = graph_.graph().nodes[at];
      if (!live(value.name) || owner_.contains(value.name) || !is_inline(value))
        continue;
      if (graph_.is_result(value.name) || wanted_by_library(value) || worth_memory(value))
        memory_.insert(value.name);
    }
  }

  /// Whether an ATen region, or a family that loads memory only, reads it and views cannot help.
  bool wanted_by_library(const Node &value) {
    for (const Draft &draft : drafts_) {
      const bool library = !draft.planned.family;
      if (!library && draft.planned.family->takes_prologue)
        continue;
      for (const std::string &member : draft.members)
        for (const std::string &input : node(member).inputs) {
          if (draft.members.contains(input))
            continue;
          if (!library && input == value.name && member == draft.planned.region.anchor)
            return true;
          if (library && view_of(graph_, input, strides_).root == value.name)
            return true;
        }
    }
    return false;
  }

  /// The cost of an element of a value from memory, as far as decided. Saturates.
  int chain_cost(const Node &value) const {
    int cost = recompute_cost(value);
    for (const std::string &input : value.inputs)
      if (!in_memory(input) && cost < 1000)
        cost += chain_cost(node(input));
    return std::min(cost, 1000);
  }

  /// Large distinct values that an element is computed from.
  void large_sources(const Node &value, std::int64_t elements, std::set<std::string> &found) const {
    for (const std::string &input : value.inputs) {
      const Node &source = node(input);
      if (!is_buffer_leaf(source) && !owner_.contains(input) && !is_generated(source))
        large_sources(source, elements, found);
      else if (model::elements_of(source.type().shape) * 2 > elements)
        found.insert(input);
    }
  }

  bool worth_memory(const Node &value) const {
    if (is_generated(value))
      return false;
    const int cost = chain_cost(value);
    const std::int64_t elements = model::elements_of(value.type().shape);
    std::set<std::string> readers; // regions: anchors' names, or materialised values
    bool grows = false;
    std::int64_t most_reuse = 1;
    collect_readers(value, readers, grows, most_reuse);
    if (readers.empty())
      return false;
    if (cost == 0)
      return false; // a view
    if (most_reuse * cost > 4 * kCheapChain)
      return true;
    if (grows && cost > kCheapChain)
      return true;
    if (readers.size() < 2)
      return false;
    std::set<std::string> sources;
    large_sources(value, elements, sources);
    return cost > kCheapChain || sources.size() > 1;
  }

  /// Who would compute the value if it were not in memory.
  void collect_readers(const Node &value, std::set<std::string> &readers, bool &grows,
                       std::int64_t &most_reuse) const {
    const std::int64_t elements = model::elements_of(value.type().shape);
    for (const Node *user : users(value.name)) {
      const std::int64_t size = model::elements_of(user->type().shape);
      if (const auto owner = owner_.find(user->name); owner != owner_.end()) {
        const Draft &draft = drafts_[owner->second];
        readers.insert(draft.planned.region.anchor);
        if (user->name == draft.planned.region.anchor)
          most_reuse = std::max(most_reuse, reuse(*user, graph_));
        else
          grows |= size >= 4 * elements;
      } else if (memory_.contains(user->name)) {
        readers.insert(user->name);
        grows |= size >= 4 * elements;
      } else {
        grows |= size >= 4 * elements;
        collect_readers(*user, readers, grows, most_reuse);
      }
    }
  }

  /// What a region computes besides its members, and what it reads.
  void close(Draft &draft) {
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
    Region &region = draft.planned.region;
    region.nodes.assign(nodes.begin(), nodes.end());
    std::ranges::sort(region.nodes, {}, [&](const auto &name) { return graph_.position(name); });
    region.inputs.clear();
    for (const std::string &name : region.nodes)
      for (const std::string &input : node(name).inputs)
        if (reads.contains(input) && std::ranges::find(region.inputs, input) == region.inputs.end())
          region.inputs.push_back(input);
  }

  void form_pointwise() {
    const int anchored = static_cast<int>(drafts_.size());
    for (int i = 0; i < anchored; ++i)
      close(drafts_[i]);
    for (const Node &value : graph_.graph().nodes) {
      if (!memory_.contains(value.name))
        continue;
      Draft draft;
      draft.planned.family = pointwise_family();
      draft.planned.choice.family = "pointwise";
      draft.members.insert(value.name);
      close(draft);
      drafts_.push_back(std::move(draft));
    }
  }

  static const Family *pointwise_family() {
    for (const Family &family : families())
      if (family.name == "pointwise")
        return &family;
    return nullptr;
  }

  /// Draft numbers that a region reads from.
  std::set<int> sources(const Draft &draft) const {
    std::set<int> result;
    for (const std::string &input : draft.planned.region.inputs)
      if (const auto producer = producer_.find(input); producer != producer_.end())
        result.insert(producer->second);
    return result;
  }

  void index_producers() {
    producer_.clear();
    for (std::size_t i = 0; i < drafts_.size(); ++i)
      for (const std::string &member : drafts_[i].members)
        producer_.emplace(member, static_cast<int>(i));
  }

  bool reaches(int from, int to, bool directly) const {
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

  bool related(const Draft &a, const Draft &b) const {
    const std::int64_t elements = model::elements_of(node(*a.members.begin()).type().shape);
    if (elements <= 1 << 14)
      return true; // launches are what such regions cost
    return std::ranges::any_of(b.planned.region.inputs, [&](const std::string &input) {
      if (a.members.contains(input))
        return true;
      return model::elements_of(node(input).type().shape) * 2 > elements &&
             std::ranges::find(a.planned.region.inputs, input) != a.planned.region.inputs.end();
    });
  }

  /// Pointwise regions over the same shape become one, where no path through another region forbids it.
  void merge_siblings() {
    index_producers();
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      for (std::size_t j = i + 1; j < drafts_.size(); ++j) {
        Draft &a = drafts_[i], &b = drafts_[j];
        if (!a.planned.region.anchor.empty() || !b.planned.region.anchor.empty())
          continue;
        const Shape &shape = node(*a.members.begin()).type().shape;
        if (shape != node(*b.members.begin()).type().shape || !related(a, b) ||
            a.planned.region.nodes.size() + b.planned.region.nodes.size() > kMostNodes ||
            reaches(static_cast<int>(i), static_cast<int>(j), false) ||
            reaches(static_cast<int>(j), static_cast<int>(i), false))
          continue;
        a.members.insert(b.members.begin(), b.members.end());
        close(a);
        drafts_.erase(drafts_.begin() + static_cast<std::ptrdiff_t>(j));
        index_producers();
        j = i; // what did not fit before may now
      }
    }
  }

  std::vector<PlannedRegion> in_order() {
    index_producers();
    for (Draft &draft : drafts_) {
      Region &region = draft.planned.region;
      for (const std::string &name : region.nodes) {
        if (!draft.members.contains(name))
          continue;
        const bool read =
            graph_.is_result(name) || std::ranges::any_of(drafts_, [&](const Draft &other) {
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

  const GraphIndex &graph_;
  const AnchorChoices &choices_;
  std::set<std::string> live_, memory_;
  std::map<std::string, Shape> strides_;
  std::map<std::string, int> owner_, producer_;
  std::vector<std::vector<std::size_t>> operands_; ///< by position in the graph
  std::vector<int> owners_;                        ///< by position; -1: none
  std::vector<Draft> drafts_;
};

} // namespace

std::vector<const Family *> claiming_families(const GraphIndex &graph, const Node &node) {
  std::vector<const Family *> result;
  for (const Family &family : families())
    if (family.claims(graph, node))
      result.push_back(&family);
  return result;
}

bool is_anchor(const Node &node) {
  return !is_buffer_leaf(node) && !is_inline(node) && node.op != "item";
}

std::vector<PlannedRegion> partition(const GraphIndex &graph, const AnchorChoices &choices) {
  return Partition(graph, choices).run();
}

model::Graph with_result_nodes(const model::Graph &graph) {
  model::Graph result = graph;
  const GraphIndex index(graph);
  std::set<std::string> used;
  int copies = 0;
  const auto own = [&](std::string &value) {
    std::string shown = value;
    while (index.node(shown).op == "reshape")
      shown = index.node(shown).inputs[0];
    if (const Node &root = index.node(shown);
        (is_pointwise(root) || is_anchor(root)) && root.op != "aten" && !used.contains(shown))
      value = shown;
    const Node &source = index.node(value);
    if (!is_buffer_leaf(source) && !is_generated(source) && used.insert(value).second)
      return;
    std::string name;
    do
      name = "result_copy_" + std::to_string(copies++);
    while (std::ranges::find(graph.nodes, name, &Node::name) != graph.nodes.end());
    result.nodes.push_back(
        {name, "reshape", {value}, {}, {{source.type().dtype, source.type().shape, {}}}});
    value = name;
  };
  for (std::string &output : result.outputs)
    own(output);
  for (model::Update &update : result.updates)
    own(update.value);
  return result;
}

} // namespace warpwright::generator
