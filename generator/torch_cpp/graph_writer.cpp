#include "generator/torch_cpp/graph_writer.h"

#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"

#include <algorithm>
#include <set>

namespace warpwright::generator::torch_cpp {
namespace {

const std::set<std::string> kReserved = {
    "alignas",  "and",      "auto",     "bool",     "break",    "case",     "catch",    "char",
    "class",    "const",    "continue", "default",  "delete",   "do",       "double",   "else",
    "enum",     "explicit", "extern",   "false",    "float",    "for",      "friend",   "goto",
    "half",     "if",       "inline",   "int",      "long",     "main",     "mutable",  "namespace",
    "new",      "not",      "operator", "or",       "private",  "public",   "return",   "short",
    "signed",   "sizeof",   "static",   "std",      "struct",   "switch",   "this",     "template",
    "throw",    "true",     "try",      "typedef",  "union",    "unsigned", "using",    "virtual",
    "void",     "volatile", "while",    "xor",      "output",   "dim3",     "warpSize", "threadIdx",
    "blockIdx", "blockDim", "gridDim",  "typename", "requires", "concept",  "register", "export"};

const model::TensorType kNothing;

} // namespace

std::string identifier(const std::string &text) {
  std::string name;
  for (const char c : text.substr(0, 100))
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (name.empty())
    name = "_";
  if (std::isdigit(static_cast<unsigned char>(name[0])) || name.starts_with("__"))
    name = "v" + name;
  return kReserved.contains(name) ? name + "_" : name;
}

std::string GraphWriter::leaf(const std::string &op, const std::string &torch_name,
                              model::TensorType type) {
  const std::string base = identifier(torch_name);
  std::string name = base;
  for (int number = 1; places_.contains(name) || name.starts_with("output_"); ++number)
    name = base + "_v" + std::to_string(number);
  return add({name, op, {}, {{"torch_name", torch_name}}, {std::move(type)}});
}

const model::TensorType &GraphWriter::type(const std::string &value) const {
  const auto place = places_.find(value);
  return place == places_.end() ? kNothing : nodes_[place->second].type();
}

const model::Node &GraphWriter::node(const std::string &value) const {
  static const model::Node kNoNode{.types = {kNothing}};
  const auto place = places_.find(value);
  return place == places_.end() ? kNoNode : nodes_[place->second];
}

std::string GraphWriter::add(model::Node node) {
  places_[node.name] = nodes_.size();
  nodes_.push_back(std::move(node));
  return nodes_.back().name;
}

std::string GraphWriter::free_name(const std::string &op) {
  std::string name;
  do
    name = op + "_" + std::to_string(++counts_[op]);
  while (places_.contains(name));
  return name;
}

std::string GraphWriter::stated(const std::string &op, std::vector<std::string> inputs,
                                model::Attributes attributes, model::TensorType type) {
  if (error_)
    return {};
  std::vector<model::TensorType> operands;
  for (const std::string &input : inputs)
    operands.push_back(this->type(input));
  model::Node node{free_name(op), op, std::move(inputs), std::move(attributes), {std::move(type)}};
  auto types = infer_types(node, operands);
  if (!types) {
    error_ = Error{op + ": " + types.error().message, types.error().remedy};
    return {};
  }
  node.types = std::move(*types);
  return add(std::move(node));
}

std::string GraphWriter::emit(const std::string &op, std::vector<std::string> inputs,
                              model::Attributes attributes) {
  model::TensorType like = inputs.empty() ? kNothing : type(inputs.front());
  return stated(op, std::move(inputs), std::move(attributes), {like.dtype, like.shape, {}});
}

std::string GraphWriter::item(const std::string &several, std::int64_t index) {
  const model::Node &node = this->node(several);
  if (error_ || index >= static_cast<std::int64_t>(node.types.size()))
    return {};
  return stated("item", {several}, {{"index", index}}, node.types[static_cast<std::size_t>(index)]);
}

std::string GraphWriter::constant(double value, model::Dtype dtype) {
  if (!model::is_floating(dtype))
    return integer_constant(static_cast<std::int64_t>(value), dtype);
  std::string key(sizeof value, '\0');
  std::copy_n(reinterpret_cast<const char *>(&value), sizeof value, key.begin());
  std::string &known = constants_[{key, dtype}];
  if (known.empty())
    known = stated("constant", {}, {{"value", value}}, {dtype, {}, {}});
  return known;
}

std::string GraphWriter::integer_constant(std::int64_t value, model::Dtype dtype) {
  if (model::is_floating(dtype))
    return constant(static_cast<double>(value), dtype);
  std::string &known = constants_[{std::to_string(value), dtype}];
  if (known.empty()) {
    const model::Attribute attribute =
        dtype == model::Dtype::Bool ? model::Attribute(value != 0) : model::Attribute(value);
    known = stated("constant", {}, {{"value", attribute}}, {dtype, {}, {}});
  }
  return known;
}

std::string GraphWriter::index_constant(const model::Shape &values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i ? "," : "") + std::to_string(values[i]);
  return stated("constant", {}, {{"values", text + "]"}},
                {model::Dtype::Int64, {static_cast<std::int64_t>(values.size())}, {}});
}

std::string GraphWriter::iota(std::int64_t length) {
  return stated("iota", {}, {{"dim", std::int64_t{0}}}, {model::Dtype::Int64, {length}, {}});
}

std::string GraphWriter::cast(const std::string &x, model::Dtype dtype) {
  return this->dtype(x) == dtype ? x : stated("cast", {x}, {}, {dtype, shape(x), {}});
}

void GraphWriter::set_strides(const std::string &value, model::Shape strides) {
  const auto place = places_.find(value);
  if (place == places_.end())
    return;
  model::TensorType &type = nodes_[place->second].types.front();
  type.strides.clear();
  if (strides != model::strides_of(type) && model::elements_of(type.shape) > 0)
    type.strides = std::move(strides);
}

std::string GraphWriter::reshape(const std::string &x, model::Shape shape) {
  return shape == this->shape(x) ? x : stated("reshape", {x}, {}, {dtype(x), std::move(shape), {}});
}

std::string GraphWriter::permute(const std::string &x, const model::Shape &dims) {
  if (std::ranges::is_sorted(dims) || error_)
    return x;
  const model::Shape old = model::strides_of(type(x));
  const std::string value = emit("permute", {x}, {{"dims", dims}});
  if (error_)
    return value;
  model::Shape strides;
  for (const std::int64_t dim : dims)
    strides.push_back(old.at(static_cast<std::size_t>(dim)));
  set_strides(value, std::move(strides));
  return value;
}

std::string GraphWriter::expand(const std::string &x, const model::Shape &shape) {
  const model::Shape before = this->shape(x);
  if (shape == before)
    return x;
  const model::Shape old = model::strides_of(type(x));
  const std::string value = stated("expand", {x}, {}, {dtype(x), shape, {}});
  if (error_)
    return value;
  model::Shape strides(shape.size(), 0);
  const std::size_t added = shape.size() - before.size();
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] == shape[added + i])
      strides[added + i] = old[i];
  set_strides(value, std::move(strides));
  return value;
}

std::string GraphWriter::slice(const std::string &x, std::int64_t dim, std::int64_t start,
                               std::int64_t stop, std::int64_t step) {
  if (error_ || dim < 0 || dim >= rank(x) ||
      (start == 0 && step == 1 && stop == shape(x)[static_cast<std::size_t>(dim)]))
    return x;
  if (step == 1 && stop > start)
    if (auto shorter = slice_of_part(x, dim, start, stop))
      return *shorter;
  model::Shape strides = model::strides_of(type(x));
  const std::string value =
      emit("slice", {x}, {{"dim", dim}, {"start", start}, {"stop", stop}, {"step", step}});
  if (error_)
    return value;
  strides[static_cast<std::size_t>(dim)] *= step;
  set_strides(value, std::move(strides));
  return value;
}

std::optional<std::string> GraphWriter::slice_of_part(const std::string &x, std::int64_t dim,
                                                      std::int64_t start, std::int64_t stop) {
  const model::Node &from = node(x);
  if ((from.op != "slice" && from.op != "cat") || integer_attribute(from, "dim", -1) != dim)
    return std::nullopt;
  const std::vector<std::string> inputs = from.inputs;
  if (from.op == "slice") {
    if (integer_attribute(from, "step") != 1)
      return std::nullopt;
    const std::int64_t offset = integer_attribute(from, "start");
    return slice(inputs.front(), dim, offset + start, offset + stop);
  }
  std::vector<std::string> chosen;
  std::int64_t position = 0;
  for (const std::string &part : inputs) {
    const std::int64_t extent = shape(part)[static_cast<std::size_t>(dim)];
    const std::int64_t low = std::max<std::int64_t>(start - position, 0),
                       high = std::min(stop - position, extent);
    if (low < high)
      chosen.push_back(slice(part, dim, low, high));
    position += extent;
  }
  return cat(std::move(chosen), dim);
}

std::string GraphWriter::select(const std::string &x, std::int64_t dim, std::int64_t index) {
  model::Shape kept = shape(x);
  if (error_ || dim < 0 || dim >= rank(x))
    return {};
  const std::string one = slice(x, dim, index, index + 1);
  kept.erase(kept.begin() + dim);
  return reshape(one, std::move(kept));
}

std::string GraphWriter::unsqueeze(const std::string &x, std::int64_t dim) {
  model::Shape grown = shape(x);
  if (error_ || dim < 0 || dim > rank(x))
    return {};
  grown.insert(grown.begin() + dim, 1);
  return reshape(x, std::move(grown));
}

std::string GraphWriter::cat(std::vector<std::string> values, std::int64_t dim) {
  std::vector<std::string> filled;
  for (const std::string &value : values) {
    if (dim >= rank(value) || shape(value)[static_cast<std::size_t>(dim)] == 0)
      continue;
    const model::Node &part = node(value);
    if (part.op == "cat" && integer_attribute(part, "dim", -1) == dim)
      filled.insert(filled.end(), part.inputs.begin(), part.inputs.end());
    else
      filled.push_back(value);
  }
  if (filled.empty() && !values.empty())
    return values.front();
  return filled.size() == 1 ? filled.front() : emit("cat", std::move(filled), {{"dim", dim}});
}

std::string GraphWriter::index_select(const std::string &x, std::int64_t dim,
                                      const std::string &index) {
  return emit("index_select", {x, index}, {{"dim", dim}});
}

std::string GraphWriter::unary(const std::string &op, const std::string &x,
                               model::Attributes attributes) {
  return emit(op, {x}, std::move(attributes));
}

std::string GraphWriter::binary(const std::string &op, const std::string &a, const std::string &b) {
  return emit(op, {a, b});
}

std::string GraphWriter::binary(const std::string &op, const std::string &x, double number) {
  return emit(op, {x, constant(number, dtype(x))});
}

std::string GraphWriter::binary(const std::string &op, double number, const std::string &x) {
  return emit(op, {constant(number, dtype(x)), x});
}

std::string GraphWriter::where(const std::string &condition, const std::string &a,
                               const std::string &b) {
  return emit("where", {condition, a, b});
}

std::string GraphWriter::reduce(const std::string &op, const std::string &x, model::Shape dims,
                                bool keepdim, model::Attributes attributes) {
  if (dims.empty())
    for (std::int64_t dim = 0; dim < rank(x); ++dim)
      dims.push_back(dim);
  std::ranges::sort(dims);
  attributes.insert({{"dims", std::move(dims)}, {"keepdim", keepdim}});
  return emit(op, {x}, std::move(attributes));
}

model::Graph GraphWriter::graph(std::vector<std::string> outputs,
                                std::vector<model::Update> updates) const {
  std::set<std::string> needed(outputs.begin(), outputs.end());
  for (const model::Update &update : updates)
    needed.insert({update.parameter, update.value});
  const auto is_leaf = [](const model::Node &node) {
    return node.op == "input" || node.op == "parameter";
  };
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node)
    if (is_leaf(*node) || needed.contains(node->name))
      needed.insert(node->inputs.begin(), node->inputs.end());
  model::Graph graph;
  for (const bool leaves : {true, false})
    for (const model::Node &node : nodes_)
      if (is_leaf(node) == leaves && (leaves || needed.contains(node.name)))
        graph.nodes.push_back(node);
  graph.outputs = std::move(outputs);
  graph.updates = std::move(updates);
  return graph;
}

} // namespace warpwright::generator::torch_cpp
