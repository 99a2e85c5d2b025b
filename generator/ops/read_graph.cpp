#include "generator/ops/read_graph.h"

#include "generator/ops/verify_graph.h"
#include "support/model/graph_json.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace warpwright::ops {

Result<model::Graph> read_graph(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    return fail("cannot open " + path);
  const auto document = nlohmann::json::parse(file, nullptr, false);
  if (document.is_discarded())
    return fail(path + " is no JSON");
  auto graph = model::graph_from_json(
      document.is_object() && document.contains("graph") ? document["graph"] : document);
  if (!graph)
    return graph;
  if (const auto good = verify_graph(*graph); !good)
    return std::unexpected(good.error());
  return graph;
}

} // namespace warpwright::ops
