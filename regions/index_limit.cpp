#include "regions/index_limit.h"

#include <set>

namespace warpwright::regions {
namespace {

using nlohmann::json;

/// The argument of an operator that holds indices of a dimension of its first argument.
struct IndexUse {
  json index;
  std::int64_t dimension;
};

std::vector<IndexUse> index_uses(const Node &node) {
  const std::string op = node.op.substr(0, node.op.rfind('.'));
  std::vector<IndexUse> uses;
  if (op == "aten.index" || op == "aten._unsafe_index" || op == "aten.index_put") {
    for (std::size_t d = 0; node.args.size() > 1 && d < node.args[1].size(); ++d)
      uses.push_back({node.args[1][d], static_cast<std::int64_t>(d)});
  } else if (op == "aten.embedding") {
    uses.push_back({node.args[1], 0});
  } else if (op == "aten.gather" || op == "aten.index_select" || op == "aten.index_add" ||
             op.starts_with("aten.scatter")) {
    if (node.args.size() > 2 && node.args[1].is_number_integer())
      uses.push_back({node.args[2], node.args[1].get<std::int64_t>()});
  }
  return uses;
}

} // namespace

json index_limit(const Graph &graph, const std::vector<std::size_t> &indices,
                 const std::string &name, const std::map<std::string, const Value *> &values) {
  std::set<std::string> names{name};
  json limit;
  for (const std::size_t index : indices) {
    const Node &node = graph.nodes[index];
    for (const IndexUse &use : index_uses(node)) {
      if (!use.index.is_object() || !use.index.contains("n") ||
          !names.contains(use.index["n"].get<std::string>()) || !node.args[0].contains("n"))
        continue;
      const TensorType &type = values.at(node.args[0]["n"].get<std::string>())->type;
      const auto rank = static_cast<std::int64_t>(type.extents.size());
      const std::int64_t d = use.dimension < 0 ? use.dimension + rank : use.dimension;
      if (d < 0 || d >= rank || type.shape[static_cast<std::size_t>(d)] < 1)
        continue;
      const json &extent = type.extents[static_cast<std::size_t>(d)];
      if (limit.is_null() || (extent.is_number() && (!limit.is_number() || extent < limit)))
        limit = extent;
    }
    if (node.is_view && names.contains(read_values(node).front()))
      for (const Value &result : node.results)
        names.insert(result.name);
  }
  return limit;
}

} // namespace warpwright::regions
