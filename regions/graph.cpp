#include "regions/graph.h"

#include <set>

namespace warpwright::regions {
namespace {

using nlohmann::json;

void collect(const json &argument, std::vector<std::string> &names) {
  if (argument.is_object()) {
    if (const auto name = argument.find("n"); name != argument.end())
      names.push_back(name->get<std::string>());
    return;
  }
  if (argument.is_array())
    for (const json &part : argument)
      collect(part, names);
}

Value value_of(const json &document) {
  Value value{document.at("name").get<std::string>(), {}};
  value.type.dtype = document.at("dtype").get<std::string>();
  value.type.device = document.at("device").get<std::string>();
  for (const json &extent : document.at("shape")) {
    value.type.is_static &= extent.is_number_integer();
    value.type.shape.push_back(extent.is_number_integer() ? extent.get<std::int64_t>() : 0);
  }
  for (const json &stride : document.at("strides")) {
    value.type.is_static &= stride.is_number_integer();
    value.type.strides.push_back(stride.is_number_integer() ? stride.get<std::int64_t>() : 0);
  }
  return value;
}

Node node_of(const json &document) {
  Node node;
  node.op = document.at("op").get<std::string>();
  node.args = document.value("args", json::array());
  node.kwargs = document.value("kwargs", json::object());
  for (const json &result : document.at("results"))
    node.results.push_back(result.is_null() ? Value{} : value_of(result));
  node.tags = document.value("tags", std::vector<std::string>{});
  // The schema of _unsafe_view names no alias, but its result shares memory with the argument.
  node.is_view = document.value("view", false) || node.op == "aten._unsafe_view.default";
  node.writes = document.value("writes", false);
  return node;
}

} // namespace

std::vector<std::string> read_values(const Node &node) {
  std::vector<std::string> names;
  collect(node.args, names);
  for (const auto &[key, argument] : node.kwargs.items())
    collect(argument, names);
  return names;
}

std::string device_of(const Node &node) {
  for (const Value &result : node.results)
    if (!result.type.dtype.empty() && !result.name.empty())
      return result.type.device;
  return "";
}

Result<Graph> graph_of(const json &document) {
  Graph graph;
  try {
    std::set<std::string> made;
    for (const json &one : document.at("nodes")) {
      const Node &node = graph.nodes.emplace_back(node_of(one));
      for (const std::string &name : read_values(node))
        if (!made.contains(name))
          return fail("the graph reads '" + name + "' before it is made");
      for (const Value &result : node.results)
        made.insert(result.name);
    }
    graph.outputs = document.at("outputs").get<std::vector<std::string>>();
  } catch (const json::exception &error) {
    return fail(std::string("the description of a graph is malformed: ") + error.what(),
                "The package and libwarpwright-core are of different versions; install them together");
  }
  return graph;
}

} // namespace warpwright::regions
