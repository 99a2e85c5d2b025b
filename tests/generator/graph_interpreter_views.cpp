#include "generator/ops/attributes.h"
#include "tests/generator/graph_interpreter_ops.h"

#include <algorithm>
#include <set>

namespace warpwright::test {
namespace {

/// A result of the shape whose element at each index is `x` at `source(index)`, or `value` where that gives an empty index.
template <class Source>
std::vector<Array> rearranged(const Array &x, const model::Shape &shape, Source &&source,
                              double value = 0) {
  Array result(x.dtype, shape);
  std::size_t next = 0;
  for_each_index(shape, [&](const model::Shape &index) {
    const std::optional<model::Shape> from = source(index);
    result.values[next++] = from ? x.at(*from) : value;
  });
  return {std::move(result)};
}

using Source = std::optional<model::Shape>;

std::vector<Array> concatenated(const Operands &inputs, std::size_t dim) {
  Array result = *inputs[0];
  result.shape[dim] = 0;
  for (const Array *input : inputs)
    result.shape[dim] += input->shape[dim];
  result.values.assign(static_cast<std::size_t>(model::elements_of(result.shape)), 0);
  std::int64_t start = 0;
  for (const Array *input : inputs) {
    for_each_index(input->shape, [&](const model::Shape &index) {
      model::Shape to = index;
      to[dim] += start;
      result.at(to) = input->at(index);
    });
    start += input->shape[dim];
  }
  return {std::move(result)};
}

std::vector<Array> sliced(const model::Node &node, const Array &x) {
  const auto dim = static_cast<std::size_t>(ops::integer_attribute(node, "dim"));
  const std::int64_t start = ops::integer_attribute(node, "start"),
                     stop =
                         std::min(ops::integer_attribute(node, "stop", x.shape[dim]), x.shape[dim]),
                     step = ops::integer_attribute(node, "step", 1);
  model::Shape shape = x.shape;
  shape[dim] = std::max<std::int64_t>(0, (stop - start + step - 1) / step);
  return rearranged(x, shape, [&](model::Shape index) -> Source {
    index[dim] = start + index[dim] * step;
    return index;
  });
}

std::vector<Array> padded(const model::Node &node, const Array &x) {
  const model::Shape low = ops::list_attribute(node, "low", x.shape.size(), 0),
                     high = ops::list_attribute(node, "high", x.shape.size(), 0);
  model::Shape shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i)
    shape[i] += low[i] + high[i];
  return rearranged(
      x, shape,
      [&](model::Shape index) -> Source {
        for (std::size_t i = 0; i < index.size(); ++i) {
          index[i] -= low[i];
          if (index[i] < 0 || index[i] >= x.shape[i])
            return std::nullopt;
        }
        return index;
      },
      ops::number_attribute(node, "value"));
}

std::vector<Array> flipped_or_rolled(const model::Node &node, const Array &x) {
  const model::Shape dims = ops::reduced_dims(node, x.shape.size());
  const model::Shape shifts = ops::list_attribute(node, "shifts", dims.size(), 0);
  return rearranged(x, x.shape, [&](model::Shape index) -> Source {
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const auto dim = static_cast<std::size_t>(dims[i]);
      const std::int64_t extent = x.shape[dim];
      index[dim] = node.op == "flip" ? extent - 1 - index[dim]
                                     : ((index[dim] - shifts[i]) % extent + extent) % extent;
    }
    return index;
  });
}

std::vector<Array> permuted(const Array &x, const model::Shape &dims) {
  model::Shape shape;
  for (const std::int64_t dim : dims)
    shape.push_back(x.shape[static_cast<std::size_t>(dim)]);
  return rearranged(x, shape, [&](const model::Shape &index) -> Source {
    model::Shape from(index.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
      from[static_cast<std::size_t>(dims[i])] = index[i];
    return from;
  });
}

std::vector<Array> triangle(const model::Node &node, const Array &x) {
  const std::int64_t diagonal = ops::integer_attribute(node, "diagonal");
  return rearranged(x, x.shape, [&](const model::Shape &index) -> Source {
    const std::int64_t distance = index.back() - index[index.size() - 2];
    const bool kept = node.op == "triu" ? distance >= diagonal : distance <= diagonal;
    return kept ? Source(index) : std::nullopt;
  });
}

/// The diagonal of two dimensions becomes the last one.
std::vector<Array> diagonal(const model::Node &node, const Array &x) {
  const std::int64_t offset = ops::integer_attribute(node, "offset");
  const auto dim1 = static_cast<std::size_t>(ops::integer_attribute(node, "dim1", 0));
  const auto dim2 = static_cast<std::size_t>(ops::integer_attribute(node, "dim2", 1));
  const std::int64_t row = std::max<std::int64_t>(0, -offset),
                     column = std::max<std::int64_t>(0, offset);
  model::Shape shape;
  for (std::size_t i = 0; i < x.shape.size(); ++i)
    if (i != dim1 && i != dim2)
      shape.push_back(x.shape[i]);
  shape.push_back(std::max<std::int64_t>(0, std::min(x.shape[dim1] - row, x.shape[dim2] - column)));
  return rearranged(x, shape, [&](const model::Shape &index) -> Source {
    model::Shape from;
    std::size_t next = 0;
    for (std::size_t i = 0; i < x.shape.size(); ++i)
      from.push_back(i == dim1   ? row + index.back()
                     : i == dim2 ? column + index.back()
                                 : index[next++]);
    return from;
  });
}

std::vector<Array> diagonal_matrix(const model::Node &node, const Array &x) {
  const std::int64_t offset = ops::integer_attribute(node, "offset");
  const std::int64_t row = std::max<std::int64_t>(0, -offset);
  model::Shape shape = x.shape;
  shape.back() += std::abs(offset);
  shape.push_back(shape.back());
  return rearranged(x, shape, [&](model::Shape index) -> Source {
    const std::int64_t distance = index.back() - index[index.size() - 2];
    if (distance != offset)
      return std::nullopt;
    index.pop_back();
    index.back() -= row;
    return index;
  });
}

} // namespace

Results interpret_view(const model::Node &node, const Operands &inputs) {
  const std::string &op = node.op;
  if (op == "iota") {
    Array result(node.type().dtype, node.type().shape);
    const auto dim = static_cast<std::size_t>(ops::integer_attribute(node, "dim"));
    for_each_index(result.shape, [&](const model::Shape &index) {
      result.at(index) = static_cast<double>(index[dim]);
    });
    return std::vector{std::move(result)};
  }
  if (inputs.empty())
    return std::nullopt;
  const Array &x = *inputs[0];
  if (op == "reshape") {
    Array result = x;
    result.shape = node.type().shape;
    return std::vector{std::move(result)};
  }
  if (op == "expand") {
    Array result(x.dtype, node.type().shape);
    for_each_index(result.shape,
                   [&](const model::Shape &index) { result.at(index) = x.broadcast_at(index); });
    return std::vector{std::move(result)};
  }
  if (op == "permute")
    return permuted(x, ops::list_attribute(node, "dims").value_or(model::Shape{}));
  if (op == "slice")
    return sliced(node, x);
  if (op == "flip" || op == "roll")
    return flipped_or_rolled(node, x);
  if (op == "cat")
    return concatenated(inputs, static_cast<std::size_t>(ops::integer_attribute(node, "dim")));
  if (op == "pad")
    return padded(node, x);
  if (op == "triu" || op == "tril")
    return triangle(node, x);
  if (op == "diagonal")
    return diagonal(node, x);
  if (op == "diag_embed")
    return diagonal_matrix(node, x);
  return std::nullopt;
}

Results interpret_index(const model::Node &node, const Operands &inputs) {
  const auto dim = static_cast<std::size_t>(ops::integer_attribute(node, "dim"));
  if (node.op == "gather") {
    return rearranged(*inputs[0], inputs[1]->shape, [&](model::Shape index) -> Source {
      index[dim] = static_cast<std::int64_t>(inputs[1]->at(index));
      return index;
    });
  }
  if (node.op == "index_select") {
    model::Shape shape = inputs[0]->shape;
    shape[dim] = inputs[1]->shape[0];
    return rearranged(*inputs[0], shape, [&](model::Shape index) -> Source {
      index[dim] = static_cast<std::int64_t>(inputs[1]->at({index[dim]}));
      return index;
    });
  }
  if (node.op == "embedding") {
    model::Shape shape = inputs[1]->shape;
    shape.push_back(inputs[0]->shape[1]);
    return rearranged(*inputs[0], shape, [&](model::Shape index) -> Source {
      const std::int64_t column = index.back();
      index.pop_back();
      return model::Shape{static_cast<std::int64_t>(inputs[1]->at(index)), column};
    });
  }
  if (node.op.starts_with("scatter_")) {
    Array result = *inputs[0];
    std::set<model::Shape> reached;
    for_each_index(inputs[1]->shape, [&](const model::Shape &index) {
      model::Shape to = index;
      to[dim] = static_cast<std::int64_t>(inputs[1]->at(index));
      double &at = result.at(to);
      const double source = inputs[2]->at(index);
      if (node.op == "scatter_add")
        at += source;
      else if (reached.insert(to).second && !ops::flag_attribute(node, "include_self", true))
        at = source;
      else
        at = node.op == "scatter_amax" ? std::max(at, source) : std::min(at, source);
    });
    return std::vector{std::move(result)};
  }
  return std::nullopt;
}

} // namespace warpwright::test
