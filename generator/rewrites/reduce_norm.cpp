// Means over space of a batch or group norm, from the norm's statistics: the mean and variance of each channel of each
// sample suffice, so that nothing of the input's size is written. The variance of a group is the mean of its channels'
// variances plus the variance of their means, which loses no accuracy. Running statistics, where kept, are written from
// the same sums, and the norm itself is removed.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

struct Statistics {
  std::string means; ///< [samples, channels, 1...] of x
  std::string mean,
      variance; ///< over each normalized set, broadcasting to `means`; the variance is divided by the count
};

bool is_single_precision(const model::Node &norm) {
  return norm.type().dtype == model::Dtype::Float32 || norm.type().dtype == model::Dtype::Float64;
}

/// @param norm a group_norm, or a batch_norm in training, over an x with spatial dimensions
Statistics statistics_of(ReplacementBuilder &builder, const model::Node &norm) {
  const std::string &x = norm.inputs[0];
  const model::Shape shape = builder.type(x).shape;
  model::Shape space;
  for (std::size_t i = 2; i < shape.size(); ++i)
    space.push_back(static_cast<std::int64_t>(i));
  const auto variance = [&](const std::string &value, const model::Shape &dims) {
    return builder.op(op::var, {value},
                      {{"dims", dims}, {"keepdim", true}, {"correction", std::int64_t{0}}});
  };
  Statistics found;
  found.means = builder.reduce(op::mean, x, space, true);
  std::string means = found.means, variances = variance(x, space);
  const bool batch = norm.op == op::batch_norm;
  const std::int64_t groups = batch ? shape[1] : ops::integer_attribute(norm, "groups", 1);
  if (!batch) {
    const model::Shape grouped{shape[0], groups, shape[1] / groups};
    means = builder.reshape(means, grouped);
    variances = builder.reshape(variances, grouped);
  }
  const model::Shape together{batch ? 0 : 2};
  found.mean = builder.reduce(op::mean, means, together, true);
  found.variance = builder.op(
      op::add, {builder.reduce(op::mean, variances, together, true), variance(means, together)});
  if (!batch) // back from groups to channels
    for (std::string *value : {&found.mean, &found.variance})
      *value = builder.reshape(builder.expand(*value, {shape[0], groups, shape[1] / groups}),
                               builder.type(found.means).shape);
  return found;
}

/// Returns true where every reader of the norm other than `reader` takes its running statistics.
bool read_for_statistics(const GraphFacts &facts, const model::Node &norm,
                         const model::Node *reader) {
  return !facts.index().is_result(norm.name) &&
         std::ranges::all_of(facts.index().users(norm.name), [&](const model::Node *user) {
           return user == reader ||
                  (user->op == op::item && ops::integer_attribute(*user, "index") > 0);
         });
}

bool has_statistics(const GraphFacts &facts, const model::Node &norm) {
  if (norm.inputs.empty() || facts.type(norm.inputs[0]).shape.size() < 3 ||
      !is_single_precision(norm))
    return false;
  return norm.op == op::group_norm ||
         (norm.op == op::batch_norm && ops::flag_attribute(norm, "training"));
}

/// Returns an optional operand by number; nullopt where `absent` names it.
std::optional<std::string> operand(const model::Node &norm, std::size_t which) {
  static constexpr const char *kNames[] = {"weight", "bias", "running_mean", "running_var"};
  std::size_t next = 1;
  for (std::size_t i = 0; i < which; ++i)
    next += !ops::is_absent(norm, kNames[i]);
  return ops::is_absent(norm, kNames[which]) || next >= norm.inputs.size()
             ? std::nullopt
             : std::optional(norm.inputs[next]);
}

} // namespace

std::optional<Replacement> reduce_normalised(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::mean && node.op != op::sum)
    return std::nullopt;
  const model::Node &norm = facts.node(node.inputs[0]);
  if (!has_statistics(facts, norm) || !read_for_statistics(facts, norm, &node))
    return std::nullopt;
  const model::Shape shape = norm.type().shape, dims = ops::reduced_dims(node, shape.size());
  model::Shape left;
  for (const std::int64_t dim : dims)
    if (dim < 2)
      left.push_back(dim);
  if (dims.size() - left.size() != shape.size() - 2)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const Statistics found = statistics_of(builder, norm);
  model::Shape channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  std::string value = builder.op(op::sub, {found.means, found.mean});
  value = builder.op(
      op::mul,
      {value,
       builder.op(op::rsqrt, {builder.with_number(op::add, found.variance,
                                                  ops::number_attribute(norm, "eps", 1e-5))})});
  if (const auto weight = operand(norm, 0))
    value = builder.multiply(value, builder.reshape(*weight, channels));
  if (const auto bias = operand(norm, 1))
    value = builder.add(value, builder.reshape(*bias, channels));
  value = builder.reduce(op::mean, value, left, true);
  if (node.op == op::sum)
    value = builder.scale(value, static_cast<double>(extent_of(shape, dims)));
  return builder.finish(value);
}

std::optional<Replacement> running_statistics(const GraphFacts &facts, const model::Node &node) {
  const std::int64_t index = node.op == op::item ? ops::integer_attribute(node, "index") : 0;
  if (index != 1 && index != 2)
    return std::nullopt;
  const model::Node &norm = facts.node(node.inputs[0]);
  if (norm.op != op::batch_norm || !has_statistics(facts, norm) ||
      !read_for_statistics(facts, norm, nullptr))
    return std::nullopt;
  const auto running = operand(norm, index == 1 ? 2 : 3);
  if (!running)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const Statistics found = statistics_of(builder, norm);
  const model::Shape shape = norm.type().shape;
  std::string now = builder.reshape(index == 1 ? found.mean : found.variance, node.type().shape);
  const auto count = static_cast<double>(model::elements_of(shape) / shape[1]);
  if (index == 2) // running variances are unbiased
    now = builder.scale(now, count / (count - 1));
  const double momentum = ops::number_attribute(norm, "momentum", 0.1);
  const std::string kept = builder.scale(*running, 1 - momentum);
  return builder.finish(builder.add(kept, builder.scale(now, momentum)));
}

} // namespace warpwright::rewrites
