#include "generator/ops/attributes.h"
#include "tests/generator/graph_interpreter_ops.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace warpwright::test {
namespace {

/// The values that share everything but the reduced dimensions, in row-major order of those, for each element of the result.
struct Groups {
  model::Shape kept;  ///< of the result with keepdim
  model::Shape shape; ///< without the reduced dimensions
  std::vector<std::vector<double>> values;
};

Groups groups_of(const Array &x, const model::Shape &dims) {
  Groups groups{.kept = x.shape};
  for (const std::int64_t dim : dims)
    groups.kept[static_cast<std::size_t>(dim)] = 1;
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    if (std::ranges::find(dims, static_cast<std::int64_t>(i)) == dims.end())
      groups.shape.push_back(x.shape[i]);
  groups.values.resize(static_cast<std::size_t>(model::elements_of(groups.kept)));
  std::size_t next = 0;
  for_each_index(x.shape, [&](const model::Shape &index) {
    std::size_t group = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      group = group * static_cast<std::size_t>(groups.kept[i]) +
              static_cast<std::size_t>(groups.kept[i] == 1 ? 0 : index[i]);
    groups.values[group].push_back(x.values[next++]);
  });
  return groups;
}

double sum_of(const std::vector<double> &values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return sum;
}

double mean_of(const std::vector<double> &values) {
  return sum_of(values) / static_cast<double>(values.size());
}

double variance_of(const std::vector<double> &values, double correction) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values)
    sum += (value - mean) * (value - mean);
  return sum / std::max(0.0, static_cast<double>(values.size()) - correction);
}

/// The first of the largest; a NaN counts as larger than anything.
std::size_t position_of_largest(const std::vector<double> &values, double sign) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (!std::isnan(values[best]) &&
        (std::isnan(values[i]) || sign * values[i] > sign * values[best]))
      best = i;
  return best;
}

double logsumexp(const std::vector<double> &values) {
  const double largest = values[position_of_largest(values, 1)];
  if (!std::isfinite(largest))
    return largest;
  double sum = 0;
  for (const double value : values)
    sum += std::exp(value - largest);
  return largest + std::log(sum);
}

double norm_of(const std::vector<double> &values, double p) {
  double largest = 0, smallest = std::numeric_limits<double>::infinity(), sum = 0;
  for (const double value : values) {
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
    sum += p == 0 ? (value != 0 ? 1 : 0) : std::pow(std::abs(value), p);
  }
  return std::isinf(p) ? (p > 0 ? largest : smallest) : p == 0 ? sum : std::pow(sum, 1 / p);
}

std::optional<double> reduce(const model::Node &node, const std::vector<double> &values) {
  const std::string &op = node.op;
  if (op == "sum")
    return sum_of(values);
  if (op == "mean")
    return mean_of(values);
  if (op == "amax" || op == "amin")
    return values[position_of_largest(values, op == "amax" ? 1 : -1)];
  if (op == "argmax" || op == "argmin")
    return static_cast<double>(position_of_largest(values, op == "argmax" ? 1 : -1));
  if (op == "logsumexp")
    return logsumexp(values);
  if (op == "var")
    return variance_of(values, ops::number_attribute(node, "correction", 1));
  if (op == "norm")
    return norm_of(values, ops::number_attribute(node, "p", 2));
  if (op == "any")
    return std::ranges::any_of(values, [](double value) { return value != 0; });
  if (op == "all")
    return std::ranges::all_of(values, [](double value) { return value != 0; });
  if (op != "prod")
    return std::nullopt;
  double product = 1;
  for (const double value : values)
    product *= value;
  return product;
}

/// Calls `change(line)` on each line of values along a dimension.
template <class Change>
Array along(const Array &x, std::size_t dim, Change &&change) {
  Array result = x;
  model::Shape starts = x.shape;
  starts[dim] = 1;
  for_each_index(starts, [&](model::Shape index) {
    std::vector<double> line;
    for (index[dim] = 0; index[dim] < x.shape[dim]; ++index[dim])
      line.push_back(x.at(index));
    change(line);
    for (index[dim] = 0; index[dim] < x.shape[dim]; ++index[dim])
      result.at(index) = line[static_cast<std::size_t>(index[dim])];
  });
  return result;
}

/// Subtracts the group's mean and divides by its deviation; groups as `group_of(index)` says.
template <class GroupOf>
Array normalised(const Array &x, std::size_t count, double eps, GroupOf &&group_of) {
  std::vector<std::vector<double>> groups(count);
  std::size_t next = 0;
  for_each_index(x.shape, [&](const model::Shape &index) {
    groups[group_of(index)].push_back(x.values[next++]);
  });
  std::vector<double> means, variances;
  for (const std::vector<double> &group : groups) {
    means.push_back(mean_of(group));
    variances.push_back(variance_of(group, 0));
  }
  Array result = x;
  next = 0;
  for_each_index(x.shape, [&](const model::Shape &index) {
    const std::size_t group = group_of(index);
    result.values[next] = (x.values[next] - means[group]) / std::sqrt(variances[group] + eps);
    ++next;
  });
  return result;
}

/// The optional operands of a node, by their order in docs/internals/op-graph.md; null for those
/// that `absent` names.
std::vector<const Array *> optional_operands(const model::Node &node, const Operands &inputs,
                                             const std::vector<std::string> &names) {
  std::vector<const Array *> found;
  std::size_t next = 1;
  for (const std::string &name : names)
    found.push_back(!ops::is_absent(node, name) && next < inputs.size() ? inputs[next++] : nullptr);
  return found;
}

/// x * weight + bias, both indexed by `position(index)`.
template <class Position>
void scale_and_shift(Array &x, const Array *weight, const Array *bias, Position &&position) {
  for_each_index(x.shape, [&](const model::Shape &index) {
    const std::size_t at = position(index);
    double &value = x.at(index);
    value = value * (weight ? weight->values[at] : 1) + (bias ? bias->values[at] : 0);
  });
}

Array layer_norm(const model::Node &node, const Operands &inputs) {
  const Array &x = *inputs[0];
  const model::Shape dims = ops::reduced_dims(node, x.shape.size());
  const auto first = static_cast<std::size_t>(*std::ranges::min_element(dims));
  const auto position = [&](const model::Shape &index, std::size_t from, std::size_t to) {
    std::size_t at = 0;
    for (std::size_t i = from; i < to; ++i)
      at = at * static_cast<std::size_t>(x.shape[i]) + static_cast<std::size_t>(index[i]);
    return at;
  };
  std::size_t rows = 1;
  for (std::size_t i = 0; i < first; ++i)
    rows *= static_cast<std::size_t>(x.shape[i]);
  Array result = normalised(x, rows, ops::number_attribute(node, "eps", 1e-5),
                            [&](const model::Shape &index) { return position(index, 0, first); });
  const auto optional = optional_operands(node, inputs, {"weight", "bias"});
  scale_and_shift(result, optional[0], optional[1],
                  [&](const model::Shape &index) { return position(index, first, index.size()); });
  return result;
}

Array group_norm(const model::Node &node, const Operands &inputs) {
  const Array &x = *inputs[0];
  const std::int64_t groups = ops::integer_attribute(node, "groups", 1),
                     a_group = x.shape[1] / groups;
  Array result =
      normalised(x, static_cast<std::size_t>(x.shape[0] * groups),
                 ops::number_attribute(node, "eps", 1e-5), [&](const model::Shape &index) {
                   return static_cast<std::size_t>(index[0] * groups + index[1] / a_group);
                 });
  const auto optional = optional_operands(node, inputs, {"weight", "bias"});
  scale_and_shift(result, optional[0], optional[1],
                  [](const model::Shape &index) { return static_cast<std::size_t>(index[1]); });
  return result;
}

std::vector<Array> batch_norm(const model::Node &node, const Operands &inputs) {
  const Array &x = *inputs[0];
  const auto channels = static_cast<std::size_t>(x.shape[1]);
  const double eps = ops::number_attribute(node, "eps", 1e-5);
  const auto optional =
      optional_operands(node, inputs, {"weight", "bias", "running_mean", "running_var"});
  const auto channel = [](const model::Shape &index) { return static_cast<std::size_t>(index[1]); };
  std::vector<Array> results;
  if (ops::flag_attribute(node, "training")) {
    results.push_back(normalised(x, channels, eps, channel));
    if (optional[2] && optional[3]) {
      std::vector<std::vector<double>> values(channels);
      std::size_t next = 0;
      for_each_index(x.shape, [&](const model::Shape &index) {
        values[channel(index)].push_back(x.values[next++]);
      });
      const double momentum = ops::number_attribute(node, "momentum", 0.1);
      Array mean = *optional[2], variance = *optional[3];
      for (std::size_t i = 0; i < channels; ++i) {
        mean.values[i] = (1 - momentum) * mean.values[i] + momentum * mean_of(values[i]);
        variance.values[i] =
            (1 - momentum) * variance.values[i] + momentum * variance_of(values[i], 1);
      }
      results.push_back(std::move(mean));
      results.push_back(std::move(variance));
    }
  } else {
    Array result = x;
    for_each_index(x.shape, [&](const model::Shape &index) {
      const std::size_t at = channel(index);
      result.at(index) =
          (x.at(index) - optional[2]->values[at]) / std::sqrt(optional[3]->values[at] + eps);
    });
    results.push_back(std::move(result));
  }
  scale_and_shift(results.front(), optional[0], optional[1], channel);
  return results;
}

} // namespace

Results interpret_reduction(const model::Node &node, const Operands &inputs) {
  if (inputs.empty() || !reduce(node, {0}))
    return std::nullopt;
  const Groups groups = groups_of(*inputs[0], ops::reduced_dims(node, inputs[0]->shape.size()));
  Array result(inputs[0]->dtype, ops::flag_attribute(node, "keepdim") ? groups.kept : groups.shape);
  for (std::size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = *reduce(node, groups.values[i]);
  return std::vector{std::move(result)};
}

Results interpret_row(const model::Node &node, const Operands &inputs) {
  const std::string &op = node.op;
  const auto dim = static_cast<std::size_t>(ops::integer_attribute(node, "dim"));
  if (op == "layer_norm")
    return std::vector{layer_norm(node, inputs)};
  if (op == "group_norm")
    return std::vector{group_norm(node, inputs)};
  if (op == "batch_norm")
    return batch_norm(node, inputs);
  if (op == "softmax" || op == "log_softmax")
    return std::vector{along(*inputs[0], dim, [&](std::vector<double> &line) {
      const double total = logsumexp(line);
      for (double &value : line)
        value = op == "softmax" ? std::exp(value - total) : value - total;
    })};
  if (op.starts_with("cum") || op == "logcumsumexp")
    return std::vector{along(*inputs[0], dim, [&](std::vector<double> &line) {
      for (std::size_t i = 1; i < line.size(); ++i)
        line[i] = op == "cumsum"    ? line[i - 1] + line[i]
                  : op == "cumprod" ? line[i - 1] * line[i]
                  : op == "cummax"  ? std::max(line[i - 1], line[i])
                  : op == "cummin"  ? std::min(line[i - 1], line[i])
                                    : logsumexp({line[i - 1], line[i]});
    })};
  if (op == "topk") {
    const bool largest = ops::flag_attribute(node, "largest");
    const Array places = along(*inputs[0], dim, [&](std::vector<double> &line) {
      std::vector<double> order(line.size());
      std::iota(order.begin(), order.end(), 0.0);
      std::ranges::stable_sort(order, [&](double a, double b) {
        const double x = line[static_cast<std::size_t>(a)], y = line[static_cast<std::size_t>(b)];
        return largest ? x > y : x < y;
      });
      if (!ops::flag_attribute(node, "sorted")) {
        const auto k = order.begin() + ops::integer_attribute(node, "k");
        const double last = line[static_cast<std::size_t>(k[-1])];
        std::sort(order.begin(), std::find_if(order.begin(), k, [&](double place) {
          return line[static_cast<std::size_t>(place)] == last;
        }));
      }
      line = std::move(order);
    });
    model::Shape shape = places.shape;
    shape[dim] = ops::integer_attribute(node, "k");
    Array first(model::Dtype::Int64, shape);
    for_each_index(shape, [&](const model::Shape &index) { first.at(index) = places.at(index); });
    return std::vector{std::move(first)};
  }
  return std::nullopt;
}

} // namespace warpwright::test
