// Matrix products and attention.
#include "generator/torch_cpp/operators.h"

#include "generator/ops/infer.h"

#include <array>
#include <cmath>

namespace warpwright::generator::torch_cpp {

std::string product_of(GraphWriter &graph, std::string first, std::string second) {
  const bool left = graph.rank(first) == 1, right = graph.rank(second) == 1;
  if (left)
    first = graph.unsqueeze(first, 0);
  if (right)
    second = graph.unsqueeze(second, 1);
  const std::string value = graph.emit("matmul", {first, second});
  model::Shape shape = graph.shape(value);
  if (right && !shape.empty())
    shape.pop_back();
  if (left && shape.size() > (right ? 0U : 1U))
    shape.erase(shape.end() - (right ? 1 : 2));
  return graph.reshape(value, shape);
}

namespace {

/// Of one dtype, as PyTorch wants them.
bool fit(Call &call, std::initializer_list<const char *> parameters) {
  std::optional<model::Dtype> dtype;
  for (const char *parameter : parameters) {
    const std::string x = call.tensor(parameter);
    if (call.graph.rank(x) == 0)
      call.refuse("it multiplies a scalar as a matrix");
    if (dtype && *dtype != call.graph.dtype(x))
      call.refuse("it multiplies tensors of different dtypes");
    dtype = call.graph.dtype(x);
  }
  return call.refusal().empty();
}

Value matmul(Call &call) {
  if (!fit(call, {"self", "other"}))
    return call.refuse("");
  return call.made(product_of(call.graph, call.tensor("self"), call.tensor("other")));
}

Value linear(Call &call) {
  GraphWriter &graph = call.graph;
  if (!fit(call, {"input", "weight"}))
    return call.refuse("");
  const std::string weight = call.tensor("weight");
  if (graph.rank(weight) != 2)
    return call.refuse("its weight has not two dimensions");
  const std::string value = product_of(graph, call.tensor("input"), graph.permute(weight, {1, 0}));
  return call.made(call.has("bias") ? graph.binary("add", value, call.tensor("bias")) : value);
}

std::string weighted(GraphWriter &graph, const std::string &value, double factor) {
  return factor == 1 ? value : graph.binary("mul", value, factor);
}

/// beta * self + alpha * (first @ second).
Value add_product(Call &call) {
  GraphWriter &graph = call.graph;
  if (!fit(call, {"first", "second"}))
    return call.refuse("");
  const std::string value =
      weighted(graph, product_of(graph, call.tensor("first"), call.tensor("second")),
               call.number("alpha", 1));
  const double beta = call.number("beta", 1);
  if (beta == 0)
    return call.made(value);
  return call.made(graph.binary("add", value, weighted(graph, call.tensor("self"), beta)));
}

Value outer(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::string column = graph.reshape(x, {graph.elements(x), 1});
  return call.made(graph.binary("mul", column, call.tensor("other")));
}

Value attention(Call &call) {
  GraphWriter &graph = call.graph;
  if (call.number("dropout_p", 0) > 0)
    return call.refuse("it is random: its dropout_p is not 0");
  if (!fit(call, {"query", "key", "value"}))
    return call.refuse("");
  const std::string query = call.tensor("query"), key = call.tensor("key"),
                    value = call.tensor("value");
  for (const std::string &one : {query, key, value}) {
    const model::Shape &shape = graph.shape(one), &wanted = graph.shape(query);
    if (shape.size() != wanted.size() || shape.size() < 2 ||
        !std::equal(shape.begin(), shape.end() - 2, wanted.begin()))
      return call.refuse("its operands have different batches");
  }
  const double head = static_cast<double>(graph.shape(query).back());
  std::vector<std::string> inputs{query, key, value};
  if (call.has("attn_mask"))
    inputs.push_back(call.tensor("attn_mask"));
  return call.made(graph.emit("attention", std::move(inputs),
                              {{"causal", call.flag("is_causal", false)},
                               {"scale", call.number("scale", 1 / std::sqrt(head))}}));
}

constexpr std::array kOperators = {
    Operator{"matmul mm bmm mv dot", "self other", matmul},
    Operator{"linear", "input weight bias", linear},
    Operator{"addmm addmv baddbmm", "self first second beta alpha", add_product},
    Operator{"outer", "self other", outer},
    Operator{"scaled_dot_product_attention", "query key value attn_mask dropout_p is_causal scale",
             attention},
};

} // namespace

std::span<const Operator> product_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
