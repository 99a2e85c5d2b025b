// Norms of channels-last values. See channels_last_work.h.
#include "generator/planning/channels_last_work.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>

namespace warpwright::planning {

using model::Node;
using model::Shape;
using model::TensorType;

std::string Turner::number(const std::string &name, double value, model::Dtype dtype) {
  return emit(name, op::constant, {}, {dtype, {}, {}}, {{"value", value}});
}

std::string Turner::factor_of(const Node &norm, const std::string &variance, const TensorType &type) {
  const std::string eps =
      number(norm.name + "__eps", ops::number_attribute(norm, "eps", 1e-5), type.dtype);
  const std::string guarded = emit(norm.name + "__guarded", op::add, {variance, eps}, type);
  return emit(norm.name + "__scale", op::rsqrt, {guarded}, type);
}

Turner::Normalised Turner::batch_statistics(const Node &node, const std::string &x,
                                            model::Dtype dtype) {
  const Shape &shape = index_.node(node.inputs[0]).type().shape;
  const TensorType a_channel{dtype, {shape[1]}, {}};
  Shape dims;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d)
    dims.push_back(static_cast<std::int64_t>(d));
  Normalised result{.shape = a_channel.shape};
  result.mean = emit(node.name, op::mean, {x}, a_channel,
                     {{"dims", dims}, {"keepdim", false}, {std::string(kTurned), true}});
  result.variance = emit(node.name + "__variance", op::var, {x}, a_channel,
                         {{"dims", dims}, {"keepdim", false}, {"correction", std::int64_t{0}}});
  result.factor = factor_of(node, result.variance, a_channel);
  return result;
}

Turner::Normalised Turner::group_statistics(const Node &node, const std::string &x,
                                            model::Dtype dtype) {
  const Shape &shape = index_.node(node.inputs[0]).type().shape;
  const std::int64_t images = shape[0], channels = shape[1],
                     groups = ops::integer_attribute(node, "groups", 1);
  const TensorType a_channel{dtype, {images, channels}, {}},
      grouped{dtype, {images, groups, channels / groups}, {}}, a_group{dtype, {images, groups, 1}, {}};
  const std::string &name = node.name;
  Shape dims;
  for (std::size_t d = 1; d + 1 < shape.size(); ++d)
    dims.push_back(static_cast<std::int64_t>(d));
  const auto of_channels = [&](const std::string &own, const char *op, model::Attributes attributes) {
    attributes.insert({{"dims", dims}, {"keepdim", false}});
    const std::string value = emit(own, op, {x}, a_channel, std::move(attributes));
    return emit(own + "__grouped", op::reshape, {value}, grouped);
  };
  const auto mean_of = [&](const std::string &own, const std::string &value) {
    return emit(own, op::mean, {value}, a_group, {{"dims", Shape{2}}, {"keepdim", true}});
  };
  const std::string means = of_channels(name, op::mean, {}),
                    variances = of_channels(name + "__variance", op::var, {{"correction", std::int64_t{0}}});
  // The variance of a group is the mean of its channels' variances and of the squares by which their means differ.
  const std::string mean = mean_of(name + "__group_mean", means);
  const std::string apart = emit(name + "__apart", op::sub, {means, mean}, grouped);
  const std::string square = emit(name + "__square", op::mul, {apart, apart}, grouped);
  const std::string variance =
      mean_of(name + "__group_variance", emit(name + "__both", op::add, {square, variances}, grouped));
  const auto by_channel = [&](const std::string &value) {
    const std::string wide = emit(value + "__wide", op::expand, {value}, grouped);
    return emit(value + "__channels", op::reshape, {wide}, a_channel);
  };
  return {.mean = by_channel(mean),
          .factor = by_channel(factor_of(node, variance, a_group)),
          .shape = a_channel.shape};
}

void Turner::write_norm(const Node &node) {
  const TensorType &type = index_.node(node.inputs[0]).type();
  const std::size_t rank = type.shape.size();
  const std::string &name = node.name;
  const bool is_half = model::size_bytes(type.dtype) == 2;
  const model::Dtype dtype = is_half ? model::Dtype::Float32 : type.dtype;
  const auto computed = [&](const std::string &value, const std::string &suffix, const Shape &shape) {
    return is_half ? emit(name + suffix, op::cast, {value}, {dtype, shape, {}}) : value;
  };
  const Shape last_shape = permuted(type.shape, order_of(rank));
  const std::string x = computed(last(node.inputs[0], rank), "__wide_last", last_shape);
  Normalised norm = node.op == op::batch_norm ? batch_statistics(node, x, dtype)
                                              : group_statistics(node, x, dtype);
  std::size_t next = 1;
  for (const char *operand : {"weight", "bias", "running_mean", "running_var"})
    if (!ops::is_absent(node, operand) && next < node.inputs.size())
      norm.operands[operand] = first(node.inputs[next++]);
  normalised_[name] = norm;
  // Over the shape that its readers want.
  const bool turned = values_.stay.contains(name);
  const TensorType whole{dtype, turned ? last_shape : type.shape, {}};
  const auto row = [&](const std::string &value, const std::string &suffix, Shape shape) {
    const std::size_t channels = turned ? rank - 1 : 1;
    Shape wide(rank, 1);
    wide[channels] = type.shape[1];
    if (shape.size() > 1)
      wide[0] = type.shape[0];
    else
      wide.erase(wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(channels));
    return wide == shape ? value : emit(name + suffix, op::reshape, {value}, {dtype, wide, {}});
  };
  std::string value = turned ? x : computed(first(node.inputs[0]), "__wide_first", type.shape);
  value = emit(name + "__centred", op::sub, {value, row(norm.mean, "__mean_row", norm.shape)}, whole);
  value = emit(name + "__scaled", op::mul, {value, row(norm.factor, "__scale_row", norm.shape)}, whole);
  for (const auto &[operand, op, suffix] : {std::tuple{"weight", op::mul, "__weighted"}, {"bias", op::add, "__shifted"}})
    if (const auto given = norm.operands.find(operand); given != norm.operands.end()) {
      const std::string own = computed(given->second, std::string("__") + operand, {type.shape[1]});
      value = emit(name + suffix, op,
                   {value, row(own, std::string("__") + operand + "_row", {type.shape[1]})}, whole);
    }
  if (is_half)
    value = emit(name + "__rounded", op::cast, {value}, {type.dtype, whole.shape, {}});
  shown_.emplace(name, value);
  if (turned)
    over_last_.emplace(value, TensorType{type.dtype, whole.shape, {}});
}

void Turner::write_running(const Node &node) {
  const Normalised &from = normalised_.at(node.inputs[0]);
  const Node &norm = index_.node(node.inputs[0]);
  const std::int64_t which = ops::integer_attribute(node, "index");
  const Shape &shape = index_.node(norm.inputs[0]).type().shape;
  const TensorType a_channel{node.type().dtype, {shape[1]}, {}};
  const double momentum = ops::number_attribute(norm, "momentum", 0.1),
               count = static_cast<double>(model::elements_of(shape) / shape[1]),
               unbiased = which == 2 ? count / std::max(1.0, count - 1) : 1;
  const auto scaled = [&](const std::string &value, const std::string &suffix, double factor) {
    const std::string constant = number(node.name + suffix + "__factor", factor, node.type().dtype);
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

} // namespace warpwright::planning
