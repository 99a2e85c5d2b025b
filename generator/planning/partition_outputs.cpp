// Chooses the values that a region of reductions stores. Readers compute the others, and may repeat
// what the region computes for its reductions: the exponentials of a softmax, from the rows' maxima.
// The choice is the minimum cut of a network with bytes that move as capacities.
#include "generator/planning/partition_work.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include <algorithm>
#include <limits>

namespace warpwright::planning {
namespace {

using model::Node;
using model::Shape;

/// Bytes that move in the time of one unit of ops::recompute_cost().
constexpr double kBytesOfUnit = 0.25;

/// A flow network. A cut's cost is the sum of the capacities of edges from its source side to its other side.
class Network {
public:
  Network() : graph_(2) {}

  static constexpr std::size_t kSource = 0, kSink = 1;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 1024;

  std::size_t add() { return boost::add_vertex(graph_); }

  void connect(std::size_t from, std::size_t to, std::int64_t capacity) {
    const auto edge = boost::add_edge(from, to, graph_).first,
               back = boost::add_edge(to, from, graph_).first;
    graph_[edge] = {capacity, 0, back};
    graph_[back] = {0, 0, edge};
  }

  /// Returns for each vertex whether it is on the sink's side of the minimum cut with the fewest such vertices.
  std::vector<bool> sink_side() {
    std::vector<boost::default_color_type> colors(boost::num_vertices(graph_));
    std::vector<long> distances(colors.size());
    std::vector<Edge> parents(colors.size());
    const auto ids = boost::get(boost::vertex_index, graph_);
    boost::boykov_kolmogorov_max_flow(
        graph_, boost::get(&Flow::capacity, graph_), boost::get(&Flow::left, graph_),
        boost::get(&Flow::back, graph_), boost::make_iterator_property_map(parents.begin(), ids),
        boost::make_iterator_property_map(colors.begin(), ids),
        boost::make_iterator_property_map(distances.begin(), ids), ids, kSource, kSink);
    std::vector<bool> result(colors.size());
    std::vector<std::size_t> open{kSink};
    result[kSink] = true;
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      for (const Edge &edge : boost::make_iterator_range(boost::out_edges(at, graph_))) {
        const std::size_t from = boost::target(edge, graph_);
        if (result[from] || graph_[graph_[edge].back].left == 0)
          continue;
        result[from] = true;
        open.push_back(from);
      }
    }
    return result;
  }

private:
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Edge = Traits::edge_descriptor;
  struct Flow {
    std::int64_t capacity = 0, left = 0;
    Edge back;
  };
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Flow>
      graph_;
};

std::int64_t bytes_of(const Node &value) {
  return model::elements_of(value.type().shape) *
         static_cast<std::int64_t>(model::size_bytes(value.type().dtype));
}

/// Returns true where each element of a reader takes one element of `value`, in any order.
bool takes_each_once(const Node &reader, const Node &value) {
  return (ops::is_pointwise(reader) || reader.op == op::reshape || reader.op == op::permute) &&
         model::elements_of(reader.type().shape) == model::elements_of(value.type().shape);
}

} // namespace

/// The values that a region may leave to its readers, and who reads them.
class Partition::Leavable {
public:
  Leavable(const Partition &partition, const std::set<std::string> &members)
      : partition_(partition), members_(members) {
    const auto &nodes = partition.graph_.graph().nodes;
    for (std::size_t at = nodes.size(); at-- > 0;) {
      const Node &node = nodes[at];
      if (!members.contains(node.name))
        continue;
      if (!ops::is_inline(node) || needed_.contains(node.name))
        for (const std::string &input : node.inputs)
          if (members.contains(input))
            needed_.insert(input);
      if (ops::is_inline(node) && !partition.graph_.is_result(node.name))
        values_.insert(node.name);
    }
    for (const Node &node : nodes)
      if (members.contains(node.name))
        find_reductions(node);
  }

  const std::set<std::string> &values() const { return values_; }
  bool contains(const std::string &name) const { return values_.contains(name); }
  /// Returns true where the region computes the value in any case, since its reductions depend on it.
  bool is_needed(const std::string &name) const { return needed_.contains(name); }

  /// Returns true where the region may store the value: it depends on reductions or is as large as
  /// their operands. Views are read in memory of other values.
  bool is_storable(const std::string &name) const {
    const Node &node = partition_.node(name);
    return !members_.contains(name) || behind_.contains(name) ||
           (ops::is_view(node) ? is_storable(node.inputs[0])
                               : reduced_.contains(model::elements_of(node.type().shape)));
  }

  /// Returns the regions that would compute the value, or read it: those behind values that are left to them count too.
  const std::set<std::string> &readers(const std::string &value) { return found(value).regions; }
  /// Returns true where one that cannot compute the value reads it.
  bool must_be_stored(const std::string &value) { return found(value).needs_memory; }

private:
  struct Found {
    std::set<std::string> regions;
    bool needs_memory = false;
  };

  /// @param node a member, after those that it reads
  void find_reductions(const Node &node) {
    const auto is_behind = [&](const std::string &name) { return behind_.contains(name); };
    if (!ops::is_inline(node)) {
      reduced_.insert(model::elements_of(partition_.node(node.inputs[0]).type().shape));
      behind_.insert(node.name);
    } else if (std::ranges::any_of(node.inputs, is_behind)) {
      behind_.insert(node.name);
    }
  }

  const Found &found(const std::string &value) {
    if (const auto known = found_.find(value); known != found_.end())
      return known->second;
    Found result;
    const Node &node = partition_.node(value);
    for (const Node *user : partition_.users(value)) {
      if (contains(user->name)) {
        const Found &behind = found(user->name);
        result.regions.insert(behind.regions.begin(), behind.regions.end());
      } else if (!members_.contains(user->name)) {
        read_by(*user, node, result);
      }
    }
    return found_.emplace(value, std::move(result)).first->second;
  }

  void read_by(const Node &user, const Node &value, Found &result) {
    if (partition_.owner_.contains(user.name)) {
      result.needs_memory = true;
    } else if (!ops::is_inline(user)) {
      const elements::Family *family = partition_.family_of(user);
      result.needs_memory |= !family || !family->grow;
      // Reductions of values of one shape along the same dimensions are one region.
      const auto dims = ops::list_attribute(user, "dims");
      std::string region = dims ? "" : user.name;
      for (const model::Shape &numbers : {dims.value_or(Shape{}), value.type().shape})
        for (const std::int64_t number : numbers)
          region += "," + std::to_string(number);
      result.regions.insert(std::move(region));
    } else if (!takes_each_once(user, value)) {
      result.needs_memory = true;
    } else {
      if (partition_.graph_.is_result(user.name))
        result.regions.insert(user.name);
      const Found &behind = found(user.name);
      result.regions.insert(behind.regions.begin(), behind.regions.end());
      result.needs_memory |= behind.needs_memory;
    }
  }

  const Partition &partition_;
  const std::set<std::string> &members_;
  std::set<std::string> values_, needed_, behind_; ///< behind_: depends on reductions of the region
  std::set<std::int64_t> reduced_;                 ///< numbers of elements that reductions read
  std::map<std::string, Found> found_;
};

void Partition::leave_to_readers(Draft &draft) {
  Leavable leavable(*this, draft.members);
  if (leavable.values().empty())
    return;
  Network network;
  std::map<std::string, std::size_t>
      kept; // its vertex is on the source's side where the region computes the value
  for (const std::string &value : leavable.values())
    kept[value] = network.add();
  const auto vertex = [&](const std::string &value) {
    const auto found = kept.find(value);
    return found == kept.end() ? Network::kSource : found->second;
  };
  const auto times = [&](const std::string &value) {
    return std::max<std::int64_t>(1, std::ssize(leavable.readers(value)));
  };
  for (const std::string &value : draft.members) {
    const bool is_stored = graph_.is_result(value) || leavable.must_be_stored(value);
    const std::size_t stored = network.add(); // on the sink's side where one of the readers is
    network.connect(vertex(value), stored,
                    leavable.is_storable(value)
                        ? bytes_of(node(value)) * (times(value) + !is_stored)
                        : Network::kNever);
    for (const Node *user : users(value))
      if (leavable.contains(user->name))
        network.connect(stored, vertex(user->name), Network::kNever);
      else if (!draft.members.contains(user->name))
        network.connect(stored, Network::kSink, Network::kNever);
  }
  std::map<std::string, std::int64_t> read; // from outside, with the number of regions that would
  for (const std::string &value : leavable.values()) {
    const Node &one = node(value);
    if (leavable.must_be_stored(value))
      network.connect(Network::kSource, vertex(value), Network::kNever);
    const double units =
        static_cast<double>(model::elements_of(one.type().shape)) * ops::recompute_cost(one);
    network.connect(Network::kSource, vertex(value),
                    static_cast<std::int64_t>(units * kBytesOfUnit) * times(value));
    for (const std::string &input : one.inputs) {
      if (leavable.is_needed(input))
        continue;
      if (draft.members.contains(input))
        network.connect(vertex(value), vertex(input), Network::kNever);
      else if (!ops::is_generated(node(input)))
        read[input] = std::max(read[input], times(value));
    }
  }
  for (const auto &[input, regions] : read) {
    const std::size_t here = network.add(), there = network.add();
    network.connect(Network::kSource, there, bytes_of(node(input)) * regions);
    bool is_read_here = false;
    for (const Node *user : users(input)) {
      is_read_here |= draft.members.contains(user->name) &&
                      (!leavable.contains(user->name) || leavable.is_needed(user->name));
      if (!leavable.contains(user->name))
        continue;
      network.connect(vertex(user->name), here, Network::kNever);
      network.connect(there, vertex(user->name), Network::kNever);
    }
    network.connect(here, Network::kSink, is_read_here ? 0 : bytes_of(node(input)));
  }
  const std::vector<bool> left = network.sink_side();
  for (const auto &[value, number] : kept)
    if (left[number] && leavable.is_needed(value))
      repeated_.insert(value);
    else if (left[number])
      draft.members.erase(value);
}

} // namespace warpwright::planning
