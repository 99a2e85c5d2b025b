#include "generator/ops/names.h"
#include "generator/planning/partition_work.h"

#include "generator/elements/evaluations.h"
#include "generator/elements/memory_view.h"
#include "generator/ops/attributes.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/aten_lowering.h"
#include "generator/planning/channels_last.h"

#include <algorithm>
#include <functional>

namespace warpwright::planning {

using model::Node;
using model::Shape;

bool Partition::in_memory(const std::string &name) const {
  return ops::is_buffer_leaf(node(name)) || owner_.contains(name) || memory_.contains(name);
}

std::int64_t Partition::reuse(const Node &anchor, const ops::GraphIndex &graph) {
  // Operands of 16 bits are read as they lie in memory (families/matmul/matmul_half.cpp).
  constexpr std::int64_t kOfProduct = 64, kAlwaysStored = 4 * kCheapChain + 1;
  if (anchor.op == op::matmul && model::size_bytes(anchor.type().dtype) == 2)
    return kAlwaysStored;
  if (ops::is_product(anchor) &&
      anchor.op != op::attention) // an attention computes no operand but its mask
    return kOfProduct;
  if (ops::op_of(anchor).kind == ops::Kind::Scatter ||
      ops::op_of(anchor).kind == ops::Kind::Selection)
    return 1;
  if (anchor.op.ends_with("_pool") && ops::find_attribute(anchor, "kernel")) {
    std::int64_t volume = 1;
    const std::size_t rank = graph.node(anchor.inputs[0]).type().shape.size() - 2;
    const Shape kernel = ops::list_attribute(anchor, "kernel", rank, 1),
                stride = ops::list_attribute(anchor, "stride", rank, 1);
    for (std::size_t i = 0; i < kernel.size(); ++i)
      volume *= std::max<std::int64_t>(1, kernel[i] / std::max<std::int64_t>(1, stride[i]));
    return volume;
  }
  return 2;
}

void Partition::choose_memory() {
  for (std::size_t at = graph_.graph().nodes.size(); at-- > 0;) {
    const Node &value = graph_.graph().nodes[at];
    if (!live(value.name) || owner_.contains(value.name) || repeated_.contains(value.name) ||
        !ops::is_inline(value))
      continue;
    if (const Node *source = turned_for_halves(value)) {
      costly_.insert(source->name);
      continue;
    }
    if (graph_.is_result(value.name) || places_.contains(value.name) || wanted_by_library(value) ||
        costly_.contains(value.name) || worth_memory(value)) {
      memory_.insert(value.name);
      join_parts(value);
    }
  }
}

bool Partition::wanted_by_library(const Node &value) {
  for (const Draft &draft : drafts_) {
    const elements::Family *family = draft.planned.family;
    if (family && family->takes_prologue && family->strided_operands == 0)
      continue;
    for (const std::string &member : draft.members)
      for (std::size_t i = 0; i < node(member).inputs.size(); ++i) {
        const std::string &input = node(member).inputs[i];
        if (draft.members.contains(input))
          continue;
        const bool is_of_anchor = member == draft.planned.region.anchor;
        if (family && !family->takes_prologue && input == value.name && is_of_anchor)
          return true;
        const bool is_part = family && family->cats && !is_of_anchor; // of a member that is a `cat`
        if ((!family || is_part || (is_of_anchor && i < family->strided_operands)) &&
            elements::view_of(graph_, elements::unrepeated_operand(graph_, node(member), i),
                              strides_)
                    .root == value.name)
          return true;
      }
  }
  return false;
}

void Partition::large_sources(const Node &value, std::int64_t elements,
                              std::set<std::string> &found, std::set<std::string> &seen) const {
  for (const std::string &input : value.inputs) {
    const Node &source = node(input);
    if (!seen.insert(input).second)
      continue;
    if (!ops::is_buffer_leaf(source) && !owner_.contains(input) && !ops::is_generated(source))
      large_sources(source, elements, found, seen);
    else if (model::elements_of(source.type().shape) * 2 > elements)
      found.insert(input);
  }
}

bool Partition::is_read_around(const Node &value) const {
  const auto readers = users(value.name);
  return !readers.empty() && std::ranges::all_of(readers, [&](const Node *reader) {
    if (ops::is_view(*reader) && !owner_.contains(reader->name))
      return is_read_around(*reader);
    if (reader->op != op::attention || !owner_.contains(reader->name))
      return false;
    for (std::size_t i = 0; i < reader->inputs.size(); ++i)
      if (reader->inputs[i] == value.name &&
          elements::unrepeated_operand(graph_, *reader, i) == value.name)
        return false;
    return true;
  });
}

bool Partition::is_read_across(const Node &value) const {
  constexpr std::int64_t kWorthLaunch = 1 << 20; ///< bytes; for fewer, reads across cost less than a launch
  constexpr std::int64_t kShortRow = 64; ///< a few threads share such a row, and their neighbors read what lies beside
  const Shape &shape = value.type().shape;
  const std::int64_t elements = model::elements_of(shape);
  // A reshape of such a view reads what the view has stored.
  if (!ops::is_view(value) || value.op == op::reshape || shape.empty() ||
      elements * static_cast<std::int64_t>(model::size_bytes(value.type().dtype)) < kWorthLaunch)
    return false;
  const elements::MemoryView view = elements::view_of(graph_, value.name, strides_);
  // Only inputs: a kernel that computes the value could store it in rows.
  if (!ops::is_buffer_leaf(node(view.root)) ||
      model::elements_of(node(view.root).type().shape) != elements)
    return false;
  std::size_t last = shape.size() - 1;
  while (last > 0 && shape[last] == 1)
    --last;
  const auto closest =
      static_cast<std::size_t>(std::ranges::find(view.strides, 1) - view.strides.begin());
  if (view.strides[last] == 1 || shape[last] < kShortRow || closest == shape.size() ||
      shape[closest] < kShortRow)
    return false;
  // A product's result and a norm's lie in rows, and each of their elements is computed from the
  // view's at its place. So is a part of a concatenation. Other pointwise regions read a view of
  // their own size by tiles.
  const auto passes_on = [&](const Node &read, const Node &reader) {
    return reader.op == op::reshape ||
           (ops::is_pointwise(reader) && !in_memory(reader.name) && reader.type().shape == read.type().shape);
  };
  const std::function<bool(const Node &)> reads_by_rows = [&](const Node &read) {
    return std::ranges::any_of(users(read.name), [&](const Node *reader) {
      const auto owner = owner_.find(reader->name);
      if (owner == owner_.end())
        return reader->op == op::cat || (passes_on(read, *reader) && reads_by_rows(*reader));
      if (reader->type().shape != read.type().shape || strides_.contains(reader->name))
        return false;
      const PlannedRegion &planned = drafts_[owner->second].planned;
      const Node &anchor = node(planned.region.anchor);
      if (!planned.family)
        return false;
      return ops::is_product(anchor) ? reader->name != anchor.name : !ops::is_pointwise(anchor);
    });
  };
  return reads_by_rows(value);
}

const Node *Partition::turned_for_halves(const Node &value) const {
  constexpr std::int64_t kAlignment = 16; ///< bytes, of the rows that tensor maps read
  if (!ops::swaps_last_two(value) || model::size_bytes(value.type().dtype) != 2 ||
      graph_.is_result(value.name))
    return nullptr;
  const Node *source = &node(value.inputs[0]);
  if (source->type().shape.back() * 2 % kAlignment != 0)
    return nullptr;
  while (source->op == op::reshape)
    source = &node(source->inputs[0]);
  const auto readers = users(value.name);
  const bool are_products =
      !readers.empty() && std::ranges::all_of(readers, [&](const Node *reader) {
        const auto owner = owner_.find(reader->name);
        return reader->op == op::matmul && owner != owner_.end() &&
               drafts_[owner->second].planned.family;
      });
  return are_products && !ops::is_view(*source) && !ops::is_generated(*source) &&
                 ops::is_inline(*source)
             ? source
             : nullptr;
}

bool Partition::is_too_much(const std::string &value, double evaluations, double reuse,
                            const std::set<std::string> &inside) const {
  constexpr double kMostLoads = 8; ///< of an element for all its readers, more than if it were stored
  const auto is_stored = [&](const std::string &name) { return in_memory(name) && !inside.contains(name); };
  return (reuse * evaluations > 1 &&
          reuse * evaluations * elements::cost_in_place(graph_, value, is_stored) > 4 * kCheapChain) ||
         (evaluations > 1 && evaluations * (elements::loads_in_place(graph_, value, is_stored) - 1) > kMostLoads);
}

bool Partition::worth_memory(const Node &value) const {
  if (ops::is_view(value) && is_read_around(value))
    return false;
  if (ops::is_generated(value))
    return false;
  if (value.op == op::permute && ops::flag_attribute(value, std::string(kTurned)))
    return is_read_across(value); // its source may be worth it for other reasons
  const std::int64_t elements = model::elements_of(value.type().shape);
  if (const elements::MemoryView view = elements::view_of(graph_, value.name, strides_);
      view.root != value.name && model::elements_of(node(view.root).type().shape) == elements &&
      model::is_contiguous({value.type().dtype, view.shape, view.strides}))
    return false; // readers find it in the memory of its source
  if (is_read_across(value))
    return true;
  if (is_wider_copy(graph_, value))
    return false; // its source takes less memory
  const int cost = elements::cost_in_place(
      graph_, value.name, [this](const std::string &name) { return in_memory(name); });
  Readers readers;
  collect_readers(value, readers);
  if (readers.regions.empty())
    return false;
  if (cost == 0)
    return false; // a view
  if (is_too_much(value.name, readers.evaluations(), static_cast<double>(readers.most_reuse), {}))
    return true;
  // Values that are much smaller still are stored themselves where that is worth it.
  constexpr std::int64_t kSmaller = 8;
  const int cost_of_smaller = elements::cost_in_place(graph_, value.name, [&](const std::string &name) {
    return in_memory(name) || model::elements_of(node(name).type().shape) * kSmaller <= elements;
  });
  constexpr std::int64_t kLarge = 4; ///< from this growth on, storing the value costs nothing in comparison
  if ((std::min(readers.growth, kLarge) - 1) * cost_of_smaller > (kLarge - 1) * kCheapChain)
    return true;
  // A product's epilogue computes with few warps, and while nothing multiplies.
  constexpr std::int64_t kWorthLaunch = 1 << 16; ///< elements
  if (readers.most_behind_product > elements && cost > kCheapChain / 4 && elements >= kWorthLaunch)
    return true;
  if (readers.regions.size() < 2)
    return false;
  std::set<std::string> sources, seen;
  large_sources(value, elements, sources, seen);
  std::int64_t of_sources = 0;
  for (const std::string &source : sources)
    of_sources += model::size_bytes(node(source).type().dtype);
  const auto own = static_cast<std::int64_t>(model::size_bytes(value.type().dtype)),
             regions = std::ssize(readers.regions);
  return cost > kCheapChain ||
         (sources.size() > 1 && regions * of_sources > of_sources + own * (1 + regions));
}

void Partition::collect_readers(const Node &value, Readers &readers, bool is_moved) const {
  if (!readers.seen.insert(value.name).second)
    return;
  const std::int64_t elements = std::max<std::int64_t>(model::elements_of(value.type().shape), 1);
  for (const Node *user : users(value.name)) {
    const std::int64_t size = model::elements_of(user->type().shape);
    const bool moves = user->op == op::slice || user->op == op::flip;
    if (moves)
      readers.positions.insert(user->name);
    else if (!is_moved)
      readers.in_place = true;
    if (const auto owner = owner_.find(user->name); owner != owner_.end()) {
      const std::string &anchor = drafts_[owner->second].planned.region.anchor;
      readers.regions.insert(anchor);
      if (user->name == anchor) {
        readers.most_reuse = std::max(readers.most_reuse, reuse(*user, graph_));
        continue;
      }
      if (ops::is_product(node(anchor)))
        readers.most_behind_product = std::max(readers.most_behind_product, size);
    } else if (memory_.contains(user->name)) {
      const auto place = places_.find(user->name); // one launch stores all parts of a `cat`
      readers.regions.insert(place == places_.end() ? user->name : place->second.whole);
    } else {
      collect_readers(*user, readers, is_moved || moves);
    }
    readers.growth = std::max(readers.growth, size / elements);
  }
}

void Partition::join_parts(const Node &cat) {
  constexpr std::size_t kMostParts = 8;
  constexpr std::int64_t kAlignment = 16;
  if (cat.op != op::cat || cat.inputs.size() > kMostParts || strides_.contains(cat.name))
    return;
  const Shape &shape = node(cat.inputs[0]).type().shape,
              strides = model::strides_of({cat.type().dtype, cat.type().shape, {}});
  const auto dim = static_cast<std::size_t>(ops::integer_attribute(cat, "dim"));
  const std::int64_t step = shape[dim] * strides[dim], elements = model::elements_of(shape);
  if (step * static_cast<std::int64_t>(model::size_bytes(cat.type().dtype)) % kAlignment != 0)
    return;
  std::set<std::string> common;
  for (const std::string &name : cat.inputs) {
    const Node &part = node(name);
    if (!ops::is_pointwise(part) || owner_.contains(name) || graph_.is_result(name) ||
        users(name).size() != 1 || part.type().shape != shape ||
        part.type().dtype != cat.type().dtype || strides_.contains(name) ||
        std::ranges::count(cat.inputs, name) != 1)
      return;
    std::set<std::string> sources, seen;
    large_sources(part, elements, sources, seen);
    if (name == cat.inputs[0])
      common = std::move(sources);
    else
      std::erase_if(common, [&](const std::string &source) { return !sources.contains(source); });
  }
  if (common.empty())
    return;
  joined_.insert(cat.name);
  for (std::size_t i = 0; i < cat.inputs.size(); ++i) {
    places_.emplace(cat.inputs[i], elements::Place{cat.name, step * static_cast<std::int64_t>(i)});
    strides_.emplace(cat.inputs[i], strides);
  }
}

} // namespace warpwright::planning
