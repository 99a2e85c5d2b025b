// Reductions, softmax, scans, and what picks positions.
#include "generator/torch_cpp/operators.h"

#include <algorithm>
#include <array>

namespace warpwright::generator::torch_cpp {
namespace {

using model::Dtype;
using model::Shape;

/// Over the call's dimensions; what has none is one element.
std::string reduced(Call &call, const std::string &op, std::string x,
                    model::Attributes attributes = {}) {
  GraphWriter &graph = call.graph;
  if (graph.rank(x) == 0)
    return graph.reduce(op, graph.reshape(x, {1}), {0}, false, std::move(attributes));
  return graph.reduce(op, x, call.dims("dim", graph.rank(x)), call.flag("keepdim", false),
                      std::move(attributes));
}

Value total(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const Dtype own = model::is_floating(graph.dtype(x)) ? graph.dtype(x) : Dtype::Int64;
  if (call.name == "mean" && !model::is_floating(call.dtype().value_or(graph.dtype(x))))
    return call.refuse("it takes the mean of integers");
  return call.made(reduced(call, call.name, graph.cast(x, call.dtype().value_or(own))));
}

std::string positions(Call &call, const std::string &op) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const bool keepdim = call.flag("keepdim", false);
  if (!call.has("dim")) {
    const std::string flat = graph.reduce(op, graph.reshape(x, {graph.elements(x)}), {0}, false);
    return keepdim ? graph.reshape(flat, Shape(static_cast<std::size_t>(graph.rank(x)), 1)) : flat;
  }
  if (graph.rank(x) == 0)
    return graph.integer_constant(0, Dtype::Int64);
  return graph.reduce(op, x, {call.dim("dim", graph.rank(x), 0)}, keepdim);
}

Value arg(Call &call) { return call.made(positions(call, call.name)); }

Value extreme(Call &call) { return call.made(reduced(call, call.name, call.tensor("self"))); }

/// max(x), max(x, other), max(x, dim, keepdim) -> (values, indices).
Value max_min(Call &call) {
  if (call.is_tensor("dim")) {
    const Operator *binary = find_operator(call.name == "max" ? "maximum" : "minimum");
    Call other(call.graph, call.name, {{"self", call["self"]}, {"other", call["dim"]}});
    const Value result = binary->handler(other);
    return other.refusal().empty() ? result : call.refuse(other.refusal());
  }
  const std::string op = call.name == "max" ? "amax" : "amin";
  const std::string values = reduced(call, op, call.tensor("self"));
  if (!call.has("dim"))
    return call.made(values);
  return call.several({values, positions(call, call.name == "max" ? "argmax" : "argmin")});
}

Value aminmax(Call &call) {
  const std::string x = call.tensor("self");
  const std::string low = reduced(call, "amin", x);
  return call.several({low, reduced(call, "amax", x)});
}

Value any_all(Call &call) {
  std::string x = call.tensor("self");
  if (call.graph.dtype(x) != Dtype::Bool)
    x = call.graph.binary("ne", x, 0);
  return call.made(reduced(call, call.name, x));
}

Value prod(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const Dtype own = model::is_floating(graph.dtype(x)) ? graph.dtype(x) : Dtype::Int64;
  return call.made(reduced(call, "prod", graph.cast(x, call.dtype().value_or(own))));
}

Value logsumexp(Call &call) { return call.made(reduced(call, "logsumexp", call.tensor("self"))); }

/// var(x, unbiased), var(x, dim, unbiased, keepdim).
Value spread(Call &call) {
  GraphWriter &graph = call.graph;
  const bool whole = call["dim"].as<bool>();
  const double correction =
      whole ? (call.flag("dim", true) ? 1 : 0) : (call.flag("unbiased", true) ? 1 : 0);
  const std::string x = call.tensor("self");
  const auto over = [&](const std::string &op, model::Attributes attributes) {
    return whole ? graph.reduce(op, x, {}, false, std::move(attributes))
                 : reduced(call, op, x, std::move(attributes));
  };
  std::string value = over("var", {{"correction", correction}});
  if (call.name.starts_with("std"))
    value = graph.unary("sqrt", value);
  return call.name.ends_with("mean") ? call.several({value, over("mean", {})}) : call.made(value);
}

/// norm(x, p, dim, keepdim).
Value norm(Call &call) {
  if (call["p"].as<std::string>())
    return call.refuse("it takes a norm by name");
  const double p = call.number("p", 2);
  return call.made(reduced(call, "norm", call.tensor("self"), {{"p", p}}));
}

/// x / max(norm, eps).
Value normalize(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::int64_t dim = call.dim("dim", graph.rank(x), 1);
  const std::string norm = graph.reduce("norm", x, {dim}, true, {{"p", call.number("p", 2)}});
  const std::string bounded = graph.binary("maximum", norm, call.number("eps", 1e-12));
  return call.made(graph.binary("div", x, graph.expand(bounded, graph.shape(x))));
}

Value softmax(Call &call) {
  GraphWriter &graph = call.graph;
  std::string x = call.tensor("self");
  x = graph.cast(x, call.dtype().value_or(floating(graph.dtype(x))));
  std::string op = call.name;
  if (op == "softmin")
    x = graph.unary("neg", x), op = "softmax";
  if (graph.rank(x) == 0)
    return call.made(
        graph.reshape(graph.unary(op, graph.reshape(x, {1}), {{"dim", std::int64_t{0}}}), {}));
  return call.made(graph.unary(op, x, {{"dim", call.dim("dim", graph.rank(x), -1)}}));
}

Value scan(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const Dtype own = model::is_floating(graph.dtype(x)) ? graph.dtype(x) : Dtype::Int64;
  return call.made(graph.unary(call.name, graph.cast(x, call.dtype().value_or(own)),
                               {{"dim", call.dim("dim", graph.rank(x), 0)}}));
}

Value gather(Call &call) {
  const std::string x = call.tensor("self");
  const std::int64_t dim = call.dim("dim", call.graph.rank(x), 0);
  return call.made(
      call.graph.emit("gather", {x, call.operand("index", Dtype::Int64)}, {{"dim", dim}}));
}

Value index_select(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::int64_t dim = call.dim("dim", graph.rank(x), 0);
  const std::string index = call.operand("index", Dtype::Int64);
  return call.made(graph.index_select(x, dim, graph.reshape(index, {graph.elements(index)})));
}

Value scatter_add(Call &call) {
  const std::string x = call.tensor("self");
  const std::int64_t dim = call.dim("dim", call.graph.rank(x), 0);
  const std::string index = call.operand("index", Dtype::Int64);
  return call.made(call.graph.emit("scatter_add", {x, index, call.tensor("src")}, {{"dim", dim}}));
}

/// at::embedding(weight, indices), torch::nn::functional::embedding(indices, weight).
Value embedding(Call &call) {
  const std::string first = call.tensor("weight"), second = call.tensor("indices");
  const bool swapped = !model::is_floating(call.graph.dtype(first));
  return call.made(
      call.graph.emit("embedding", {swapped ? second : first, swapped ? first : second}));
}

Value triangle(Call &call) {
  return call.made(call.graph.unary(call.name, call.tensor("self"),
                                    {{"diagonal", call.integer("diagonal", 0)}}));
}

Value one_hot(Call &call) {
  GraphWriter &graph = call.graph;
  const std::string x = call.tensor("self");
  const std::int64_t classes = call.integer("num_classes", -1);
  if (classes < 0)
    return call.refuse("its shape depends on data without a number of classes");
  const std::string apart = graph.unsqueeze(x, graph.rank(x));
  return call.made(graph.cast(graph.binary("eq", apart, graph.iota(classes)), Dtype::Int64));
}

constexpr std::array kOperators = {
    Operator{"sum mean", "self dim keepdim dtype", total},
    Operator{"prod", "self dim keepdim dtype", prod},
    Operator{"argmax argmin", "self dim keepdim", arg},
    Operator{"amax amin", "self dim keepdim", extreme},
    Operator{"max min", "self dim keepdim", max_min},
    Operator{"aminmax", "self dim keepdim", aminmax},
    Operator{"any all", "self dim keepdim", any_all},
    Operator{"logsumexp", "self dim keepdim", logsumexp},
    Operator{"var std var_mean std_mean", "self dim unbiased keepdim", spread},
    Operator{"norm linalg_norm linalg_vector_norm", "self p dim keepdim", norm},
    Operator{"normalize", "self p dim eps", normalize},
    Operator{"softmax log_softmax softmin", "self dim dtype", softmax, "dim"},
    Operator{"cumsum cumprod", "self dim dtype", scan},
    Operator{"gather", "self dim index", gather},
    Operator{"index_select", "self dim index", index_select},
    Operator{"scatter_add", "self dim index src", scatter_add},
    Operator{"embedding", "weight indices", embedding},
    Operator{"triu tril", "self diagonal", triangle},
    Operator{"one_hot", "self num_classes", one_hot},
};

} // namespace

std::span<const Operator> reduction_operators() { return kOperators; }

} // namespace warpwright::generator::torch_cpp
