#include "generator/ops/text.h"

#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

namespace warpwright::ops {
namespace {

std::string dtype_text(model::Dtype dtype) {
  std::string name(model::name(dtype));
  for (const auto &[full, brief] :
       {std::pair{"bfloat", "bf"}, {"float", "f"}, {"uint", "u"}, {"int", "i"}})
    if (name.starts_with(full))
      return brief + name.substr(std::string_view(full).size());
  return name;
}

std::string list_text(const model::Shape &list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i)
    text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}

std::string type_text(const model::TensorType &type) {
  return dtype_text(type.dtype) + list_text(type.shape) +
         (type.strides.empty() ? "" : "@" + list_text(type.strides));
}

/// Returns the shortest text that reads back as the same double, and not as an integer.
std::string number_text(double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

struct AttributeText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number_text(value); }
  std::string operator()(const std::string &value) const { return nlohmann::json(value).dump(); }
  std::string operator()(const model::Shape &value) const { return list_text(value); }
};

std::string names_text(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "%" : ", %") + name;
  return text;
}

} // namespace

std::string print_node(const model::Node &node) {
  std::string types;
  for (const model::TensorType &type : node.types)
    types += (types.empty() ? "" : ", ") + type_text(type);
  if (node.types.size() != 1)
    types = "(" + types + ")";
  std::string text = "%" + node.name + ": " + types + " = " + node.op;
  if (!node.inputs.empty())
    text += "(" + names_text(node.inputs) + ")";
  std::string attributes;
  for (const auto &[name, value] : node.attributes)
    attributes +=
        (attributes.empty() ? "" : ", ") + name + "=" + std::visit(AttributeText{}, value);
  return attributes.empty() ? text : text + " {" + attributes + "}";
}

std::string print_graph(const model::Graph &graph) {
  std::string text;
  for (const model::Node &node : graph.nodes)
    text += print_node(node) + "\n";
  for (const model::Update &update : graph.updates)
    text += "update %" + update.parameter + " = %" + update.value + "\n";
  const std::string outputs = names_text(graph.outputs);
  return text + (outputs.empty() ? "return\n" : "return " + outputs + "\n");
}

} // namespace warpwright::ops
