// JSON of op graphs, as written by tracers and stored by tests: graph.schema.json.
//
// {"nodes": [{"name", "op", "inputs", "attributes", "types": [{"dtype", "shape", "strides"?}]}],
// "outputs": [names], "updates": [{"parameter", "value"}]}. Attributes are JSON values; infinities
// are {"number": "inf"}. Consistency of the graph is checked elsewhere
// (generator/ops/verify_graph.h). Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <nlohmann/json.hpp>

namespace warpwright::model {

nlohmann::json to_json(const Graph &graph);

/// Validates first. Errors: as validate().
Result<Graph> graph_from_json(const nlohmann::json &document);

} // namespace warpwright::model
