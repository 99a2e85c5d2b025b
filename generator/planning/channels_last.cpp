// Writer of channels-last graphs; see channels_last.h. A value's two shapes differ in name: a node written over (N,
// spatial..., C) keeps its name, and `first` gives the view of it for readers of (N, C, spatial...).
#include "generator/planning/channels_last.h"

#include "generator/ops/names.h"
#include "generator/planning/channels_last_values.h"
#include "generator/planning/layouts.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/attributes.h"

#include <algorithm>
#include <span>

namespace warpwright::planning {
namespace {

using model::Node;
using model::Shape;
using model::TensorType;

/// Returns the dimensions of (N, C, spatial...) in the order (N, spatial..., C).
Shape order_of(std::size_t rank) {
  Shape order{0};
  for (std::size_t d = 2; d < rank; ++d)
    order.push_back(static_cast<std::int64_t>(d));
  order.push_back(1);
  return order;
}

Shape inverse(const Shape &order) {
  Shape result(order.size());
  for (std::size_t d = 0; d < order.size(); ++d)
    result[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  return result;
}

Shape permuted(const Shape &values, const Shape &order) {
  Shape result;
  for (const std::int64_t d : order)
    result.push_back(values[static_cast<std::size_t>(d)]);
  return result;
}

/// Returns the new place of a dimension of (N, C, spatial...).
std::int64_t moved(std::int64_t dim, std::size_t rank) {
  return dim == 0 ? 0 : dim == 1 ? static_cast<std::int64_t>(rank) - 1 : dim - 1;
}

/// Returns true where contiguous memory is channels-last memory too.
bool same_memory(const Shape &shape) { return taps_of(shape) == 1; }

/// Limit of weights in one kernel: each takes two pointers, and parameters have room for 4 KB.
constexpr std::size_t kMostWeights = 192;
/// Limit of taps that a block of that kernel holds.
constexpr std::int64_t kMostTaps = 4096;

class Turner {
public:
  Turner(const model::Graph &graph, const AnchorChoices &choices)
      : index_(graph), choices_(choices), values_(channels_last_values(index_, choices)) {}

  model::Graph run() {
    result_.outputs = index_.graph().outputs;
    result_.updates = index_.graph().updates;
    for (const Node &node : index_.graph().nodes)
      if (ops::is_buffer_leaf(node))
        result_.nodes.push_back(node);
    turn_weights();
    for (const Node &node : index_.graph().nodes)
      if (!ops::is_buffer_leaf(node))
        write(node);
    const auto own = [&](std::string &value) {
      if (whole_results_.contains(value))
        return;
      value = shown(value);
      if (over_last_.contains(value) || is_conv(value))
        value = contiguous(value);
    };
    for (std::string &output : result_.outputs)
      own(output);
    for (model::Update &update : result_.updates)
      own(update.value);
    return std::move(result_);
  }

private:
  bool is_conv(const std::string &name) const {
    const auto known = std::ranges::find(index_.graph().nodes, name, &Node::name);
    return known != index_.graph().nodes.end() && is_channels_last(*known, choices_);
  }

  std::string emit(const std::string &name, const std::string &op, std::vector<std::string> inputs,
                   TensorType type, model::Attributes attributes = {}) {
    result_.nodes.push_back(
        {name, op, std::move(inputs), std::move(attributes), {std::move(type)}});
    return name;
  }

  /// Returns the name under which readers of a node find its value.
  std::string shown(const std::string &value) const {
    const auto other = shown_.find(value);
    return other == shown_.end() ? value : other->second;
  }

  /// Returns the value over (N, C, spatial...), as a view where it is written in the other order.
  std::string first(const std::string &value) {
    const std::string name = shown(value);
    if (!over_last_.contains(name))
      return name;
    const auto [known, added] = firsts_.try_emplace(name, name + "__first");
    if (added) {
      const TensorType &type = index_.node(value).type();
      emit(known->second, op::permute, {name}, {type.dtype, type.shape, {}},
           {{"dims", inverse(order_of(type.shape.size()))}, {std::string(kTurned), true}});
    }
    return known->second;
  }

  /// Returns an operand over (N, spatial..., C). @param broadcasts to `rank` dimensions; else it has them
  std::string last(const std::string &value, std::size_t rank, bool broadcasts = false) {
    const TensorType &type = index_.node(value).type();
    if (over_last_.contains(shown(value)))
      return shown(value);
    if (broadcasts && model::elements_of(type.shape) == 1)
      return first(value);
    const std::string key = value + (broadcasts ? "__broadcast" : "__last") + std::to_string(rank);
    const auto [known, added] = lasts_.try_emplace(key, key);
    if (!added)
      return known->second;
    std::string operand = first(value);
    Shape full(rank - type.shape.size(), 1);
    full.insert(full.end(), type.shape.begin(), type.shape.end());
    if (broadcasts && full[1] == model::elements_of(full))
      return emit(known->second, op::reshape, {operand}, {type.dtype, {full[1]}, {}});
    if (full.size() != type.shape.size())
      operand = emit(key + "__wide", op::reshape, {operand}, {type.dtype, full, {}});
    const Shape order = order_of(rank);
    return emit(known->second, op::permute, {operand}, {type.dtype, permuted(full, order), {}},
                {{"dims", order}, {std::string(kTurned), true}});
  }

  /// Returns a result's own node, over (N, C, spatial...).
  std::string contiguous(const std::string &value) {
    const bool turned = over_last_.contains(value);
    const TensorType &type = turned ? over_last_.at(value) : index_.node(value).type();
    const std::string name = value + "__contiguous";
    if (std::ranges::find(result_.nodes, name, &Node::name) != result_.nodes.end())
      return name;
    if (!turned)
      return emit(name, op::reshape, {value}, {type.dtype, type.shape, {}});
    const Shape back = inverse(order_of(type.shape.size()));
    return emit(name, op::permute, {value}, {type.dtype, permuted(type.shape, back), {}},
                {{"dims", back}});
  }

  /// Converts all weights that need it, by one kernel for each dtype: many small kernels would cost more than the
  /// memory that they move.
  void turn_weights() {
    std::map<model::Dtype, std::vector<const Node *>> wanted;
    for (const Node &node : index_.graph().nodes)
      if (is_channels_last(node, choices_)) {
        const Node &weight = index_.node(node.inputs[1]);
        auto &list = wanted[weight.type().dtype];
        if (weight.op == op::parameter && !same_memory(weight.type().shape) &&
            taps_of(weight.type().shape) <= kMostTaps &&
            std::ranges::find(list, &weight) == list.end())
          list.push_back(&weight);
      }
    for (const auto &[dtype, list] : wanted)
      for (std::size_t begin = 0; list.size() >= 2 && begin < list.size(); begin += kMostWeights)
        turn_together(std::span(list).subspan(begin, std::min(kMostWeights, list.size() - begin)));
  }

  void turn_together(std::span<const Node *const> weights) {
    Node node;
    node.name = weights.front()->name + "__and_others";
    node.op = ops::kLayoutsOp;
    for (const Node *weight : weights) {
      node.inputs.push_back(weight->name);
      node.types.push_back({weight->type().dtype, weight->type().shape,
                            channels_last_strides(weight->type().shape)});
    }
    result_.nodes.push_back(node);
    for (std::size_t i = 0; i < weights.size(); ++i)
      laid_out_[weights[i]->name] = emit(weights[i]->name + "__channels_last", op::item, {node.name},
                                         node.types[i], {{"index", static_cast<std::int64_t>(i)}});
  }

  /// Returns the operand in channels-last memory for a library call.
  std::string laid_out(const std::string &value) {
    const Node &source = index_.node(value);
    if (values_.come.contains(value) && values_.stay.contains(value))
      return first(value); // a view of memory in that order, or memory in that order itself
    const std::string name = first(value);
    if (source.op == op::parameter && same_memory(source.type().shape))
      return name;
    const auto [known, added] = laid_out_.try_emplace(name, name + "__channels_last");
    if (added)
      emit(known->second, std::string(ops::kLayoutOp), {name},
           {source.type().dtype, source.type().shape, channels_last_strides(source.type().shape)});
    return known->second;
  }

  void write(const Node &node) {
    if (is_channels_last(node, choices_)) {
      Node turned = node;
      for (std::size_t i = 0; i < turned.inputs.size(); ++i)
        turned.inputs[i] = i < 2 ? laid_out(turned.inputs[i]) : first(turned.inputs[i]);
      result_.nodes.push_back(std::move(turned));
    } else if (node.op == op::item && normalised_.contains(node.inputs[0])) {
      write_running(node);
    } else if (is_turnable_batch_norm(node) && !by_library(node, choices_) &&
               values_.come.contains(node.inputs[0])) {
      write_batch_norm(node);
    } else if (is_turnable_reduction(node) && !by_library(node, choices_) &&
               values_.come.contains(node.inputs[0])) {
      write_reduction(node);
    } else if (values_.stay.contains(node.name) && !is_window(index_, node, choices_)) {
      write_last(node);
    } else {
      Node same = node;
      for (std::string &input : same.inputs)
        input = first(input);
      if (values_.stay.contains(node.name))
        same.attributes[std::string(kChannelsLast)] = true;
      result_.nodes.push_back(std::move(same));
    }
  }

  /// Writes a pointwise node, view or softmax over (N, spatial..., C).
  void write_last(const Node &node) {
    const std::size_t rank = node.type().shape.size();
    const Shape order = order_of(rank);
    Node turned = node;
    turned.types = {{node.type().dtype, permuted(node.type().shape, order), {}}};
    for (std::string &input : turned.inputs)
      input = last(input, rank, ops::is_pointwise(node));
    if (ops::find_attribute(node, "dim"))
      turned.attributes["dim"] = moved(ops::integer_attribute(node, "dim"), rank);
    for (const char *list : {"low", "high"})
      if (const auto sizes = ops::list_attribute(node, list))
        turned.attributes[list] = permuted(*sizes, order);
    over_last_.emplace(node.name, turned.type());
    result_.nodes.push_back(std::move(turned));
  }

  void write_reduction(const Node &node) {
    const std::string &operand = node.inputs[0];
    const Shape &shape = index_.node(operand).type().shape;
    const std::size_t rank = shape.size();
    const Shape reduced = ops::reduced_dims(node, rank);
    Shape dims, kept, kept_shape;
    for (const std::int64_t dim : reduced)
      dims.push_back(moved(dim, rank));
    std::ranges::sort(dims);
    for (const std::int64_t dim : order_of(rank))
      if (std::ranges::find(reduced, dim) == reduced.end()) {
        kept.push_back(dim);
        kept_shape.push_back(shape[static_cast<std::size_t>(dim)]);
      }
    Node turned = node;
    turned.inputs = {last(operand, rank)};
    turned.attributes["dims"] = dims;
    turned.attributes["keepdim"] = false;
    turned.types = {{node.type().dtype, kept_shape, {}}};
    result_.nodes.push_back(std::move(turned));
    std::string value = node.name;
    if (!std::ranges::is_sorted(kept)) {
      // Dimension i of the module's result is where kept[...] is the i-th largest.
      Shape dims_back(kept.size()), sorted = kept;
      std::ranges::sort(sorted);
      for (std::size_t i = 0; i < sorted.size(); ++i)
        dims_back[i] = std::ranges::find(kept, sorted[i]) - kept.begin();
      value = emit(node.name + "__ordered", op::permute, {value},
                   {node.type().dtype, permuted(kept_shape, dims_back), {}}, {{"dims", dims_back}});
    }
    if (value == node.name)
      whole_results_.insert(node.name);
    if (ops::flag_attribute(node, "keepdim"))
      value = emit(node.name + "__kept", op::reshape, {value},
                   {node.type().dtype, node.type().shape, {}});
    if (value != node.name)
      shown_.emplace(node.name, value);
  }

  /// Writes a batch norm from mean and variance, so that rows of (N, spatial..., C) are read once for both.
  void write_batch_norm(const Node &node) {
    const TensorType &type = index_.node(node.inputs[0]).type();
    const std::size_t rank = type.shape.size();
    const std::int64_t channels = type.shape[1];
    const TensorType a_channel{type.dtype, {channels}, {}}, number{type.dtype, {}, {}};
    const std::string &name = node.name;
    std::map<std::string, std::string> operands;
    std::size_t next = 1;
    for (const char *operand : {"weight", "bias", "running_mean", "running_var"})
      if (!ops::is_absent(node, operand) && next < node.inputs.size())
        operands[operand] = first(node.inputs[next++]);
    const auto constant = [&](const std::string &suffix, double value) {
      return emit(name + suffix, op::constant, {}, number, {{"value", value}});
    };
    Shape dims;
    for (std::size_t d = 0; d + 1 < rank; ++d)
      dims.push_back(static_cast<std::int64_t>(d));
    const std::string x = last(node.inputs[0], rank);
    const std::string mean =
        emit(name, op::mean, {x}, a_channel,
             {{"dims", dims}, {"keepdim", false}, {std::string(kTurned), true}});
    const std::string variance =
        emit(name + "__variance", op::var, {x}, a_channel,
             {{"dims", dims}, {"keepdim", false}, {"correction", std::int64_t{0}}});
    const std::string scale = emit(
        name + "__scale", op::rsqrt,
        {emit(name + "__guarded", op::add,
              {variance, constant("__eps", ops::number_attribute(node, "eps", 1e-5))}, a_channel)},
        a_channel);
    normalised_[name] = {mean, variance, operands};
    // Over the shape that its readers want.
    const bool turned = values_.stay.contains(name);
    const TensorType whole{
        type.dtype, turned ? permuted(type.shape, order_of(rank)) : type.shape, {}};
    Shape wide(rank - 1, 1);
    wide[0] = channels;
    const auto row = [&](const std::string &value, const std::string &suffix) {
      return turned ? value : emit(name + suffix, op::reshape, {value}, {type.dtype, wide, {}});
    };
    std::string value = emit(name + "__centred", op::sub,
                             {turned ? x : first(node.inputs[0]), row(mean, "__mean_row")}, whole);
    value = emit(name + "__scaled", op::mul, {value, row(scale, "__scale_row")}, whole);
    if (operands.contains("weight"))
      value =
          emit(name + "__weighted", op::mul, {value, row(operands["weight"], "__weight_row")}, whole);
    if (operands.contains("bias"))
      value = emit(name + "__shifted", op::add, {value, row(operands["bias"], "__bias_row")}, whole);
    shown_.emplace(name, value);
    if (turned)
      over_last_.emplace(value, whole);
  }

  /// Writes new running statistics: results 1 and 2 of a batch norm.
  void write_running(const Node &node) {
    const Normalised &from = normalised_.at(node.inputs[0]);
    const Node &norm = index_.node(node.inputs[0]);
    const std::int64_t which = ops::integer_attribute(node, "index");
    const Shape &shape = index_.node(norm.inputs[0]).type().shape;
    const TensorType a_channel{node.type().dtype, {shape[1]}, {}},
        number{node.type().dtype, {}, {}};
    const double momentum = ops::number_attribute(norm, "momentum", 0.1),
                 count = static_cast<double>(model::elements_of(shape) / shape[1]),
                 unbiased = which == 2 ? count / std::max(1.0, count - 1) : 1;
    const auto scaled = [&](const std::string &value, const std::string &suffix, double factor) {
      const std::string constant =
          emit(node.name + suffix + "__factor", op::constant, {}, number, {{"value", factor}});
      return emit(node.name + suffix, op::mul, {value, constant}, a_channel);
    };
    if (which == 0) {
      shown_.emplace(node.name, shown(norm.name));
      return;
    }
    const std::string old = from.operands.at(which == 1 ? "running_mean" : "running_var");
    emit(node.name, op::add,
         {scaled(old, "__old", 1 - momentum),
          scaled(which == 1 ? from.mean : from.variance, "__new", momentum * unbiased)},
         a_channel);
  }

  struct Normalised {
    std::string mean, variance;
    std::map<std::string, std::string> operands;
  };
  const ops::GraphIndex index_;
  const AnchorChoices &choices_;
  const ChannelsLastValues values_;
  model::Graph result_;
  std::set<std::string>
      whole_results_; ///< reductions whose memory is the module's result, whatever the shape
  std::map<std::string, std::string> shown_, firsts_, lasts_, laid_out_;
  std::map<std::string, TensorType> over_last_; ///< nodes written over (N, spatial..., C)
  std::map<std::string, Normalised> normalised_;
};

} // namespace

model::Graph with_channels_last(const model::Graph &graph, const AnchorChoices &choices) {
  if (std::ranges::none_of(graph.nodes,
                           [&](const Node &node) { return is_channels_last(node, choices); }))
    return graph;
  return Turner(graph, choices).run();
}

} // namespace warpwright::planning
