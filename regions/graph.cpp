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

/// The number of an extent or stride at the example's sizes; nullopt: unknown.
std::optional<std::int64_t> number_of(const json &extent) {
  if (extent.is_number_integer())
    return extent.get<std::int64_t>();
  if (extent.is_object() && extent.contains("size"))
    return extent.at("hint").get<std::int64_t>();
  return std::nullopt;
}

Value value_of(const json &document) {
  Value value{document.at("name").get<std::string>(), {}};
  value.type.dtype = document.at("dtype").get<std::string>();
  value.type.device = document.at("device").get<std::string>();
  for (const auto &[field, numbers] : {std::pair{"shape", &value.type.shape}, std::pair{"strides", &value.type.strides}})
    for (const json &extent : document.at(field)) {
      const auto number = number_of(extent);
      value.type.is_known &= number.has_value();
      numbers->push_back(number.value_or(0));
    }
  value.type.extents = document.at("shape").get<std::vector<json>>();
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

Symbol symbol_of(const json &document) {
  const json &high = document.at("high");
  return {document.at("hint"), document.at("low"), high.is_null() ? std::nullopt : std::optional(high.get<std::int64_t>())};
}

Result<Graph> graph_of(const json &document) {
  Graph graph;
  try {
    for (const auto &[name, symbol] : document.value("symbols", json::object()).items())
      graph.symbols[name] = symbol_of(symbol);
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
