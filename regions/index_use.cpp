#include "regions/index_use.h"

#include <set>

namespace warpwright::regions {
namespace {

using nlohmann::json;

/// The arguments of an operator that hold indices of a dimension of another.
struct IndexArgument {
  json index, indexed;
  std::int64_t dimension;
  bool is_ascending = false;
};

std::vector<IndexArgument> index_arguments(const Node &node) {
  const std::string op = node.op.substr(0, node.op.rfind('.'));
  const json &args = node.args;
  std::vector<IndexArgument> found;
  if (op == "aten.index" || op == "aten._unsafe_index" || op == "aten.index_put") {
    for (std::size_t d = 0; args.size() > 1 && d < args[1].size(); ++d)
      found.push_back({args[1][d], args[0], static_cast<std::int64_t>(d)});
  } else if (op == "aten.embedding") {
    found.push_back({args[1], args[0], 0});
  } else if (op.starts_with("aten._embedding_bag") && args.size() > 2 && !op.contains("backward")) {
    found.push_back({args[1], args[0], 0});
    found.push_back({args[2], args[1], 0, true});
  } else if (op == "aten.gather" || op == "aten.index_select" || op == "aten.index_add" ||
             op.starts_with("aten.scatter")) {
    if (args.size() > 2 && args[1].is_number_integer())
      found.push_back({args[2], args[0], args[1].get<std::int64_t>()});
  }
  return found;
}

/// The extent that indices count; null if it is not known.
json indexed_extent(const IndexArgument &argument, const std::map<std::string, const Value *> &values) {
  if (!argument.indexed.is_object() || !argument.indexed.contains("n"))
    return {};
  const TensorType &type = values.at(argument.indexed["n"].get<std::string>())->type;
  const auto rank = static_cast<std::int64_t>(type.extents.size());
  const std::int64_t d = argument.dimension < 0 ? argument.dimension + rank : argument.dimension;
  if (d < 0 || d >= rank || type.shape[static_cast<std::size_t>(d)] < 1)
    return {};
  return type.extents[static_cast<std::size_t>(d)];
}

} // namespace

IndexUse index_use(const Graph &graph, const std::vector<std::size_t> &indices,
                   const std::string &name, const std::map<std::string, const Value *> &values) {
  std::set<std::string> names{name};
  IndexUse use;
  for (const std::size_t index : indices) {
    const Node &node = graph.nodes[index];
    for (const IndexArgument &argument : index_arguments(node)) {
      if (!argument.index.is_object() || !argument.index.contains("n") ||
          !names.contains(argument.index["n"].get<std::string>()))
        continue;
      const json extent = indexed_extent(argument, values);
      if (extent.is_null())
        continue;
      use.is_ascending |= argument.is_ascending;
      if (use.limit.is_null() || (extent.is_number() && (!use.limit.is_number() || extent < use.limit)))
        use.limit = extent;
    }
    if (node.is_view && names.contains(read_values(node).front()))
      for (const Value &result : node.results)
        names.insert(result.name);
  }
  return use;
}

} // namespace warpwright::regions
