#include "generator/planning/region_kind.h"

namespace warpwright::planning {
namespace {

using model::Node;

std::string text_of(const model::TensorType &type) {
  std::string text(model::name(type.dtype));
  for (const std::int64_t size : type.shape)
    text += "," + std::to_string(size);
  return text + ";";
}

std::string text_of(const model::Attribute &attribute) {
  struct Text {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return std::to_string(value); }
    std::string operator()(const std::string &value) const { return value; }
    std::string operator()(const model::Shape &value) const {
      std::string text;
      for (const std::int64_t size : value)
        text += std::to_string(size) + ",";
      return text;
    }
  };
  return std::visit(Text{}, attribute);
}

/// Returns equal texts for anchors that differ only in name and operands.
std::string kind_of(const ops::GraphIndex &graph, const Node &node) {
  std::string text = node.op + ":";
  for (const auto &[name, value] : node.attributes)
    text += name + "=" + text_of(value) + " ";
  for (const std::string &input : node.inputs)
    text += text_of(graph.node(input).type());
  return text + text_of(node.type());
}

} // namespace

std::string kind_of(const ops::GraphIndex &graph, const BuiltRegion &built) {
  const elements::Region &region = built.planned.region;
  std::string text = built.planned.choice.family + "|";
  if (!region.anchor.empty())
    return text + kind_of(graph, graph.node(region.anchor)) + built.words.substr(0, 9);
  for (const std::string &name : region.nodes)
    text += graph.node(name).op + " ";
  return text + text_of(graph.node(region.outputs.front()).type());
}

} // namespace warpwright::planning
