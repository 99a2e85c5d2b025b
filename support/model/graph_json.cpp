#include "support/model/graph_json.h"
#include "support/model/json.h"
#include "support/model/json_fields.h"

namespace warpwright::model {
namespace {

using nlohmann::json;

json type_json(const TensorType &type) {
  json document = {{"dtype", name(type.dtype)}, {"shape", type.shape}};
  if (!type.strides.empty())
    document["strides"] = type.strides;
  return document;
}

TensorType type_from(const json &document) {
  return {*dtype_from_name(document["dtype"].get<std::string>()), document["shape"].get<Shape>(),
          document.value("strides", Shape{})};
}

json attribute_json(const Attribute &attribute) {
  if (const auto *number = std::get_if<double>(&attribute))
    return fields::wrapped_number(*number);
  return std::visit([](const auto &value) { return json(value); }, attribute);
}

Attribute attribute_from(const json &document) {
  if (document.is_boolean())
    return document.get<bool>();
  if (document.is_number_integer())
    return document.get<std::int64_t>();
  if (document.is_string())
    return document.get<std::string>();
  if (document.is_array())
    return document.get<Shape>();
  return fields::wrapped_number_from(document);
}

json node_json(const Node &node) {
  json attributes = json::object(), types = json::array();
  for (const auto &[key, value] : node.attributes)
    attributes[key] = attribute_json(value);
  for (const TensorType &type : node.types)
    types.push_back(type_json(type));
  return {{"name", node.name},
          {"op", node.op},
          {"inputs", node.inputs},
          {"attributes", std::move(attributes)},
          {"types", std::move(types)}};
}

Node node_from(const json &document) {
  Node node;
  node.name = document["name"];
  node.op = document["op"];
  node.inputs = document.value("inputs", std::vector<std::string>{});
  for (const auto &[key, value] : document.value("attributes", json::object()).items())
    node.attributes.emplace(key, attribute_from(value));
  for (const json &type : document["types"])
    node.types.push_back(type_from(type));
  return node;
}

} // namespace

json to_json(const Graph &graph) {
  json nodes = json::array(), updates = json::array();
  for (const Node &node : graph.nodes)
    nodes.push_back(node_json(node));
  for (const Update &update : graph.updates)
    updates.push_back({{"parameter", update.parameter}, {"value", update.value}});
  return {{"nodes", std::move(nodes)}, {"outputs", graph.outputs}, {"updates", std::move(updates)}};
}

Result<Graph> graph_from_json(const json &document) {
  TRY(validate(document, Schema::Graph));
  Graph graph;
  for (const json &node : document["nodes"])
    graph.nodes.push_back(node_from(node));
  graph.outputs = document["outputs"];
  for (const json &update : document.value("updates", json::array()))
    graph.updates.push_back({update["parameter"], update["value"]});
  return graph;
}

} // namespace warpwright::model
