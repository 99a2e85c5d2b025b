#include "regions/partition.h"

#include "support/model/dtype.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <ranges>
#include <set>

namespace warpwright::regions {
namespace {

using nlohmann::json;

constexpr std::array kDtypes = {"bool",  "uint8", "int8",     "int16",   "int32",
                                "int64", "float16", "bfloat16", "float32", "float64"};
constexpr std::array kBadTags = {"nondeterministic_seeded", "data_dependent_output"};

bool is_held(const TensorType &type) { return std::ranges::find(kDtypes, type.dtype) != kDtypes.end(); }

std::string reason_against_reading(const TensorType &operand, const std::string &device) {
  if (operand.device != device)
    return "reads a tensor of another device";
  return operand.dtype.empty() || is_held(operand) ? "" : "reads " + operand.dtype;
}

bool has_unknown(const json &argument) {
  if (argument.is_array())
    return std::ranges::any_of(argument, has_unknown);
  return argument.is_object() && argument.contains("other");
}

bool has_tag(const Node &node, const char *tag) { return std::ranges::find(node.tags, tag) != node.tags.end(); }

/// True if someone reads a result besides the first, as the log-sums of an attention.
bool keeps_more(const Node &node) {
  return std::ranges::any_of(node.results | std::views::drop(1),
                             [](const Value &one) { return !one.name.empty(); });
}

/// True if the last argument, which says which results are wanted, leaves one out.
bool leaves_out_results(const Node &node) {
  return !node.args.empty() && std::ranges::find(node.args.back(), json(false)) != node.args.back().end();
}

/// Orders each writing node after all earlier nodes and before all later ones, which may read the memory it changes.
void wait_for_writers(const Graph &graph, std::vector<std::set<std::size_t>> &users, std::vector<std::size_t> &waits) {
  std::optional<std::size_t> writer; // the latest writing node so far
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (writer)
      waits[i] += users[*writer].insert(i).second;
    if (!graph.nodes[i].writes)
      continue;
    for (std::size_t before = writer ? *writer + 1 : 0; before < i; ++before)
      waits[i] += users[before].insert(i).second;
    writer = i;
  }
}

/// True for a tensor with at most one dimension of several elements, as a number for each channel.
bool is_vector(const Value &value) {
  return std::ranges::count_if(value.type.shape, [](std::int64_t extent) { return extent != 1; }) <= 1;
}

/// Moves vectors that are computed from inputs element by element, as a norm's factors from its statistics, to the first
/// run that reads them: else those of a whole network would be in its first run.
/// @param place by node: its run, or for a node outside the runs the last run before it
void compute_late(const Graph &graph, const std::vector<bool> &may_hold,
                  const std::vector<std::set<std::size_t>> &users, std::vector<std::ptrdiff_t> &place,
                  std::vector<std::vector<std::size_t>> &runs) {
  std::map<std::string, bool> from_inputs; // by value
  std::vector<bool> may_move(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    const auto is_from_inputs = [&](const std::string &name) { return from_inputs[name]; };
    const bool is_simple = node.op.empty() || ((node.is_view || has_tag(node, "pointwise")) && !node.writes &&
                                               std::ranges::all_of(read_values(node), is_from_inputs));
    for (const Value &result : node.results)
      from_inputs[result.name] = is_simple;
    may_move[i] = is_simple && may_hold[i] && !users[i].empty() &&
                  std::ranges::all_of(node.results, is_vector);
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;)
    if (may_move[i])
      place[i] = std::max(place[i], std::ranges::min(users[i] | std::views::transform([&](std::size_t user) { return place[user]; })));
  for (std::vector<std::size_t> &run : runs)
    run.clear();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (may_hold[i])
      runs[static_cast<std::size_t>(place[i])].push_back(i);
}

/// Runs of nodes that regions may hold, from a topological order that keeps such nodes together.
std::vector<std::vector<std::size_t>> runs_of(const Graph &graph) {
  std::map<std::string, std::size_t> maker;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const Value &result : graph.nodes[i].results)
      maker[result.name] = i;
  std::vector<std::size_t> waits(graph.nodes.size(), 0);
  std::vector<std::set<std::size_t>> users(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string &name : read_values(graph.nodes[i]))
      waits[i] += users[maker.at(name)].insert(i).second;
  wait_for_writers(graph, users, waits);
  std::set<std::size_t> allowed, others; // ready nodes in the graph's order
  std::vector<bool> may_hold;
  for (const std::string &reason : reasons_against(graph))
    may_hold.push_back(reason.empty());
  const auto ready = [&](std::size_t i) { (may_hold[i] ? allowed : others).insert(i); };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (waits[i] == 0)
      ready(i);
  std::vector<std::vector<std::size_t>> runs(1);
  std::vector<std::ptrdiff_t> place(graph.nodes.size(), 0);
  while (!allowed.empty() || !others.empty()) {
    // Before a run all others that are ready, so that they divide no run.
    const bool takes_other = !others.empty() && (allowed.empty() || runs.back().empty());
    std::set<std::size_t> &from = takes_other ? others : allowed;
    const std::size_t next = *from.begin();
    place[next] = std::ssize(runs) - (takes_other && runs.back().empty() ? 2 : 1);
    if (!takes_other)
      runs.back().push_back(next);
    else if (!runs.back().empty() && !graph.nodes[next].op.empty())
      runs.emplace_back();
    from.erase(next);
    for (const std::size_t user : users[next])
      if (--waits[user] == 0)
        ready(user);
  }
  compute_late(graph, may_hold, users, place, runs);
  return runs;
}

/// True for runs of which at least one operator in 30 is a convolution that mixes channels.
bool is_convolving(const Graph &graph, const std::vector<std::size_t> &run) {
  constexpr std::ptrdiff_t kOperators = 30;
  constexpr std::size_t kGroups = 8; ///< place of the argument
  const auto convolves = [&](std::size_t i) {
    const Node &node = graph.nodes[i];
    return node.op == "aten.convolution.default" && node.args.size() > kGroups && node.args[kGroups] == 1;
  };
  return std::ranges::count_if(run, convolves) * kOperators >= std::ranges::ssize(run);
}

std::int64_t elements_of(const Value &value) {
  return std::accumulate(value.type.shape.begin(), value.type.shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t bytes_of(const Value &value) {
  const auto dtype = model::dtype_from_name(value.type.dtype);
  return elements_of(value) * (dtype ? static_cast<std::int64_t>(model::size_bytes(*dtype)) : 1);
}

/// Elements of the graph's tensors by name.
using Elements = std::map<std::string, std::int64_t>;

/// Division of one run into parts. Of equally narrow cuts it takes the last: a part costs a call, and what fuses or keeps its
/// layout does so within a part.
class Cutter {
public:
  Cutter(const Graph &graph, const Elements &elements, const std::vector<std::size_t> &run, const Limits &limits)
      : run_(run), fewest_(limits.fewest), most_(limits.most) {
    if (is_convolving(graph, run)) {
      fewest_ = limits.fewest_convolving;
      most_ = limits.most_convolving;
    }
    std::map<std::string, std::string> shown; // by view
    const auto shown_by = [&](const std::string &name) {
      const auto found = shown.find(name);
      return found == shown.end() ? name : found->second;
    };
    std::map<std::string, std::size_t> made_at, last;
    std::map<std::string, std::int64_t> bytes;
    for (std::size_t at = 0; at < run.size(); ++at) {
      const Node &node = graph.nodes[run[at]];
      const std::vector<std::string> reads = read_values(node);
      work_.push_back(work_of(node, reads, elements));
      for (const std::string &name : reads)
        last[shown_by(name)] = at;
      for (const Value &result : node.results)
        if (node.is_view && !reads.empty()) {
          shown[result.name] = shown_by(reads[0]);
        } else {
          made_at[result.name] = at;
          bytes[result.name] = bytes_of(result);
        }
    }
    crossing_.assign(run.size() + 1, 0);
    for (const auto &[name, at] : made_at)
      if (const auto read = last.find(name); read != last.end())
        for (std::size_t cut = at + 1; cut <= read->second; ++cut)
          crossing_[cut] += bytes[name];
  }

  std::vector<std::vector<std::size_t>> parts() const {
    std::vector<std::vector<std::size_t>> parts;
    for (std::size_t begin = 0; begin < run_.size();) {
      const std::size_t end = end_of(begin);
      parts.emplace_back(run_.begin() + static_cast<std::ptrdiff_t>(begin), run_.begin() + static_cast<std::ptrdiff_t>(end));
      begin = end;
    }
    return parts;
  }

private:
  static int work_of(const Node &node, const std::vector<std::string> &reads, const Elements &elements) {
    constexpr std::int64_t kShort = 8; ///< terms of a sum that a kernel writes out
    constexpr std::array kInPlace = {"aten.cat.",  "aten.index.", "aten.gather.", "aten.embedding.", "aten.constant_pad_nd.",
                                     "aten.flip.", "aten.roll."};
    constexpr std::array kReductions = {"aten.sum.",  "aten.mean.", "aten.amax.", "aten.amin.",
                                        "aten.prod.", "aten.any.",  "aten.all."};
    const auto starts = [&](const char *start) { return node.op.starts_with(start); };
    if (node.is_view || node.args.empty())
      return 0;
    if (has_tag(node, "pointwise") || reads.empty() || std::ranges::any_of(kInPlace, starts))
      return 1;
    const bool is_short =
        std::ranges::any_of(kReductions, starts) && elements.at(reads[0]) <= kShort * elements_of(node.results[0]);
    return is_short ? 1 : Limits::kAnchor;
  }

  std::size_t end_of(std::size_t begin) const {
    if (std::accumulate(work_.begin() + static_cast<std::ptrdiff_t>(begin), work_.end(), 0) <= most_)
      return run_.size();
    std::size_t best = run_.size(), cut = begin;
    int work = 0;
    while (++cut < run_.size() && (work += work_[cut - 1]) <= most_)
      if (work >= fewest_ && work_[cut - 1] > 0 && (best == run_.size() || crossing_[cut] <= crossing_[best]))
        best = cut;
    if (best == run_.size())
      return best;
    // The end of the run is as good as the cut before this part.
    const auto crossing = [&](std::size_t at) { return crossing_[at == run_.size() && begin > 0 ? begin : at]; };
    std::size_t narrowest = best;
    for (; cut <= run_.size() && work <= kLonger * most_; ++cut) {
      if ((cut == run_.size() ? begin > 0 : work_[cut - 1] > 0) && crossing(cut) < crossing(narrowest))
        narrowest = cut;
      work += cut < run_.size() ? work_[cut] : 0;
    }
    return 2 * crossing(narrowest) <= crossing(best) ? narrowest : best;
  }

  /// A part may be so many times longer if half as many bytes cross its end.
  static constexpr int kLonger = 4;

  const std::vector<std::size_t> &run_;
  int fewest_, most_;
  std::vector<int> work_;
  std::vector<std::int64_t> crossing_; ///< bytes of the values computed before a position and read after it
};

/// True unless the region computes at most one pointwise operator, which gains nothing from a plan.
bool is_worth_it(const Graph &graph, const std::vector<std::size_t> &region) {
  int computing = 0;
  for (const std::size_t index : region) {
    const Node &node = graph.nodes[index];
    if (node.is_view || read_values(node).empty())
      continue;
    if (!has_tag(node, "pointwise"))
      return true;
    ++computing;
  }
  return computing > 1;
}

} // namespace

std::optional<Attention> attention_of(const std::string &op, const json &args) {
  Attention found;
  if (op.starts_with("aten._scaled_dot_product_efficient_attention") || op.starts_with("aten._scaled_dot_product_cudnn_attention"))
    found = {3, 5, 6}; // (query, key, value, bias, compute_log_sumexp, dropout, is_causal)
  else if (!op.starts_with("aten._scaled_dot_product_flash_attention"))
    return std::nullopt; // (query, key, value, dropout, is_causal)
  if (args.size() > found.dropout && args[found.dropout] != 0)
    return std::nullopt;
  return found;
}

bool is_max_pool(const std::string &op) {
  return op.starts_with("prims._low_memory_max_pool") && op.contains("_with_offsets");
}

std::string reason_against(const Node &node) {
  if (node.op.empty())
    return "an input";
  if (!node.op.starts_with("aten.") && !node.op.starts_with("prims."))
    return "no operator of ATen";
  if (is_max_pool(node.op)) {
    if (keeps_more(node))
      return "keeps what its gradient needs";
  } else if (node.op.starts_with("prims.inductor_") ||
             node.op.starts_with("prims._")) { // known to Inductor's code generator alone
    return "is Inductor's own";
  }
  if (node.op.starts_with("prims.device_put"))
    return "copies to another device";
  if (node.op.starts_with("aten.lift")) // no other operator may read a constant tensor of the graph
    return "copies a constant";
  if (node.writes)
    return "writes to an argument";
  for (const char *tag : kBadTags)
    if (has_tag(node, tag) && !attention_of(node.op, node.args)) // attention has the tag even without dropout
      return tag;
  if (attention_of(node.op, node.args) && keeps_more(node))
    return "keeps what its gradient needs";
  if (node.op.starts_with("aten._scaled_dot_product_") && node.op.contains("_backward")) // no plan may call it
    return "is the gradient of an attention";
  if (node.op.starts_with("aten.convolution_backward") && leaves_out_results(node))
    return "gives no tensor for one of its results";
  if (node.op.starts_with("aten.as_strided"))
    return "depends on how its argument lies in memory";
  if (has_unknown(node.args) || std::ranges::any_of(node.kwargs, has_unknown))
    return "an argument is known only at run time";
  const std::string device = device_of(node);
  if (device.empty())
    return "gives no tensor";
  for (const Value &result : node.results) {
    if (result.type.dtype.empty() || result.name.empty())
      continue;
    if (!result.type.is_known)
      return "a size is known only at run time";
    if (!is_held(result.type))
      return "computes with " + result.type.dtype;
    if (result.type.device != device)
      return "is on two devices";
  }
  return "";
}

std::vector<std::string> reasons_against(const Graph &graph) {
  std::map<std::string, int> operators;    // by device
  std::map<std::string, TensorType> types; // by value
  for (const Node &node : graph.nodes) {
    operators[device_of(node)] += !node.op.empty();
    for (const Value &result : node.results)
      types[result.name] = result.type;
  }
  operators.erase("");
  const auto most = std::ranges::max_element(operators, {}, [](const auto &one) { return one.second; });
  std::vector<std::string> reasons;
  for (const Node &node : graph.nodes) {
    reasons.push_back(reason_against(node));
    if (!reasons.back().empty())
      continue;
    if (device_of(node) != most->first)
      reasons.back() = "is on another device than most operators";
    for (const std::string &name : read_values(node))
      if (reasons.back().empty())
        reasons.back() = reason_against_reading(types[name], device_of(node));
  }
  return reasons;
}

std::vector<std::size_t> ordered_nodes(const Graph &graph) {
  std::vector<std::size_t> ordered;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i];
    if (node.writes || (has_tag(node, "nondeterministic_seeded") && !reason_against(node).empty()))
      ordered.push_back(i);
  }
  return ordered;
}

std::vector<std::vector<std::size_t>> partition(const Graph &graph, const Limits &limits) {
  Elements elements;
  for (const Node &node : graph.nodes)
    for (const Value &value : node.results)
      elements[value.name] = elements_of(value);
  std::vector<std::vector<std::size_t>> regions;
  for (const std::vector<std::size_t> &run : runs_of(graph))
    for (std::vector<std::size_t> &part : Cutter(graph, elements, run, limits).parts())
      if (is_worth_it(graph, part))
        regions.push_back(std::move(part));
  return regions;
}

} // namespace warpwright::regions
