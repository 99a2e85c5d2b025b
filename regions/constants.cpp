#include "regions/constants.h"

#include "regions/partition.h"

#include <algorithm>

namespace warpwright::regions {
namespace {

class Constants {
public:
  Constants(const Graph &graph, const std::vector<std::size_t> &region)
      : graph_(graph), region_(region), inside_(region.begin(), region.end()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for (const Value &result : graph.nodes[i].results)
        maker_[result.name] = i;
  }

  std::set<std::size_t> run() {
    const std::string device = device_of(graph_.nodes[region_.front()]);
    std::set<std::size_t> found;
    for (const std::size_t index : region_)
      for (const std::string &name : read_values(graph_.nodes[index]))
        if (const std::size_t maker = maker_.at(name);
            is_constant(maker) && device_of(graph_.nodes[maker]) == device)
          add(maker, found);
    return found;
  }

private:
  void add(std::size_t index, std::set<std::size_t> &found) const {
    if (inside_.contains(index) || !found.insert(index).second)
      return;
    for (const std::string &name : read_values(graph_.nodes[index]))
      add(maker_.at(name), found);
  }

  bool is_constant(std::size_t index) {
    const auto known = known_.find(index);
    if (known != known_.end())
      return known->second;
    const Node &node = graph_.nodes[index];
    const auto is_constant_value = [&](const std::string &name) { return is_constant(maker_.at(name)); };
    return known_[index] = reason_against(node).empty() &&
                           std::ranges::all_of(node.results, is_vector) &&
                           std::ranges::all_of(read_values(node), is_constant_value);
  }

  static bool is_vector(const Value &value) {
    return std::ranges::count_if(value.type.shape, [](std::int64_t extent) { return extent != 1; }) <= 1;
  }

  const Graph &graph_;
  const std::vector<std::size_t> &region_;
  const std::set<std::size_t> inside_;
  std::map<std::string, std::size_t> maker_;
  std::map<std::size_t, bool> known_;
};

} // namespace

std::set<std::size_t> constants_of(const Graph &graph, const std::vector<std::size_t> &region) {
  return Constants(graph, region).run();
}

} // namespace warpwright::regions
