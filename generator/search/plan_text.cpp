#include "generator/search/plan_text.h"

#include "generator/ops/text.h"
#include "generator/search/torch_search.h"
#include "support/model/json.h"
#include "support/words.h"

namespace warpwright::search {
namespace {

/// Longest printed text of a constant's values or a call's arguments.
constexpr std::size_t kMostAttribute = 60;
/// Regions that are described whole, and nodes of one region: a prompt must leave room for an answer.
constexpr std::size_t kMostRegions = 12, kMostNodes = 40;

/// Names of a region's values in the order of its buffers: "in0 = %x, out0 = %y".
std::string names_of(const elements::Region &region) {
  std::string text;
  const auto add = [&](const char *kind, const std::vector<std::string> &values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      text +=
          (text.empty() ? "" : ", ") + std::string(kind) + std::to_string(i) + " = %" + values[i];
  };
  add("in", region.inputs);
  add("out", region.outputs);
  return text;
}

/// The kernels that another author wrote for a region.
std::string kernels_of(const planning::WrittenRegion &written) {
  nlohmann::json document = model::to_json(written.kernels);
  document.erase("source");
  document.erase("moves");
  return "its kernels, " + document.dump() + "\n" + written.kernels.source + "\n";
}

std::string details_of(const planning::BuiltPlan &built, const ops::GraphIndex &graph,
                       const planning::BuiltRegion &built_region) {
  const elements::Region &region = built_region.planned.region;
  std::string text = planning::region_interface(graph, region) + names_of(region) + "\n";
  for (std::size_t i = 0; i < std::min(region.nodes.size(), kMostNodes); ++i)
    text += "  " + ops::print_node(graph.node(region.nodes[i])) + "\n";
  if (region.nodes.size() > kMostNodes)
    text += "  (" + std::to_string(region.nodes.size() - kMostNodes) + " more)\n";
  if (built_region.is_written)
    text += kernels_of(built.applied.written.at(planning::region_key(region)));
  return text;
}

} // namespace

model::Graph with_short_attributes(model::Graph graph) {
  for (model::Node &node : graph.nodes)
    for (auto &[name, value] : node.attributes)
      if (auto *words = std::get_if<std::string>(&value); words && words->size() > kMostAttribute)
        *words = words->substr(0, kMostAttribute) + "...";
  return graph;
}

std::string plan_text(const planning::BuiltPlan &built,
                      const std::map<std::string, double> &seconds, const arch::NodeRates &rates) {
  const model::Graph shown = with_short_attributes(built.graph);
  const ops::GraphIndex graph(shown);
  const std::vector<RegionGroup> groups = region_groups(built, rates);
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const planning::BuiltRegion &first = *groups[i].regions.front();
    const std::string &key = planning::region_key(first.planned.region);
    const double least = estimated_seconds(graph, first.planned, rates);
    text += "region " + key + ", number " + std::to_string(i) + ": " + first.words;
    if (groups[i].regions.size() > 1)
      text += "; " + std::to_string(groups[i].regions.size()) + " are alike";
    text += "; at least " + printed("%.2f", least * 1e6) + " us by its bytes and operations";
    if (const auto known = seconds.find(key); known != seconds.end())
      text += ", measured " + printed("%.2f", known->second * 1e6) + " us, which is " +
              printed("%.0f%%", 100 * least / std::max(known->second, 1e-12)) + " of the roofline";
    text += "\n" + (i < kMostRegions ? details_of(built, graph, first) : "");
  }
  return text;
}

} // namespace warpwright::search
