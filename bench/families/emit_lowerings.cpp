// Writes what the families make of single regions, for measure.py to compile and time: a JSON list of cases in, a JSON list out.
//
// In: [{"name", "anchor", "graph": graph.schema.json}], where everything but leaves is one region. Out: for each case the configurations
// of the families that claim the anchor (with an argument, at most so many of each), each with source, launches, temporaries. Thread: one.
#include "generator/families/registry.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"

#include <algorithm>
#include <iostream>
#include <string>

using namespace warpwright;

namespace {

elements::Region whole_region(const model::Graph &graph, const std::string &anchor) {
  elements::Region region;
  region.anchor = anchor;
  for (const model::Node &node : graph.nodes)
    if (node.op == "input" || node.op == "parameter")
      region.inputs.push_back(node.name);
    else
      region.nodes.push_back(node.name);
  region.outputs = graph.outputs;
  return region;
}

std::int64_t number(const symbolic::Expression &expression) {
  return expression.evaluate({}).value();
}

nlohmann::json to_json(const elements::Lowering &lowering) {
  nlohmann::json json;
  json["source"] = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n" +
                   std::string(elements::ElementWriter::prelude()) + lowering.source;
  json["launches"] = nlohmann::json::array();
  for (const model::Step &step : lowering.steps) {
    if (const auto *fill = std::get_if<model::FillStep>(&step)) {
      json["launches"].push_back({{"fill", fill->buffer}, {"byte", fill->byte}});
      continue;
    }
    const auto &launch = std::get<model::LaunchStep>(step);
    model::Plan plan;
    plan.steps = {step};
    const nlohmann::json arguments = model::to_json(plan)["steps"][0]["launch"]["arguments"];
    json["launches"].push_back(
        {{"kernel", launch.kernel},
         {"grid", {number(launch.grid[0]), number(launch.grid[1]), number(launch.grid[2])}},
         {"block", {number(launch.block[0]), number(launch.block[1]), number(launch.block[2])}},
         {"shared", number(launch.shared_bytes)},
         {"cooperative", launch.cooperative},
         {"arguments", arguments}});
  }
  json["temporaries"] = nlohmann::json::array();
  for (const model::Temporary &temporary : lowering.temporaries)
    json["temporaries"].push_back({{"name", temporary.name},
                                   {"dtype", model::name(temporary.dtype)},
                                   {"extent", number(temporary.extent)}});
  return json;
}

} // namespace

int main(int argc, char **argv) {
  const std::size_t most = argc > 1 ? std::stoul(argv[1]) : 1000;
  const elements::DeviceFacts device{arch::gpu_named("h200").value()};
  nlohmann::json results = nlohmann::json::array();
  for (const nlohmann::json &entry : nlohmann::json::parse(std::cin)) {
    nlohmann::json result{{"name", entry["name"]}, {"configurations", nlohmann::json::array()}};
    const auto graph = model::graph_from_json(entry["graph"]);
    if (!graph) {
      std::cerr << entry["name"] << ": " << describe(graph.error()) << "\n";
      return 1;
    }
    const ops::GraphIndex index(*graph);
    const elements::Region region = whole_region(*graph, entry["anchor"]);
    for (const elements::Family &family : families::all()) {
      if (!family.claims(index, index.node(region.anchor)))
        continue;
      std::size_t listed = 0;
      for (const auto &configuration : family.configurations(index, region, device)) {
        if (listed++ == most)
          break;
        const auto lowering = family.lower(index, region, configuration, device, "k");
        if (!lowering) {
          std::cerr << entry["name"] << ": " << describe(lowering.error()) << "\n";
          continue;
        }
        nlohmann::json json = to_json(*lowering);
        json["configuration"] = configuration;
        json["family"] = family.name;
        result["configurations"].push_back(std::move(json));
      }
    }
    if (result["configurations"].empty()) {
      std::cerr << entry["name"] << ": no family claims it\n";
      return 1;
    }
    results.push_back(std::move(result));
  }
  std::cout << results.dump() << "\n";
}
