#include "regions/program.h"

#include "regions/constants.h"
#include "regions/index_use.h"
#include "regions/padding.h"
#include "regions/partition.h"
#include "regions/places.h"
#include "support/hash.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <set>

namespace warpwright::regions {
namespace {

using nlohmann::json;

bool is_contiguous(const TensorType &type, const std::vector<std::size_t> &order) {
  std::int64_t expected = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::int64_t extent = type.shape[order[i]];
    if (extent == 1)
      continue;
    if (type.strides[order[i]] != expected)
      return false;
    expected *= extent;
  }
  return true;
}

Border border_of(const Value &value) {
  Border border{value.name, std::vector<std::size_t>(value.type.shape.size()), false};
  std::iota(border.order.begin(), border.order.end(), std::size_t{0});
  if (is_contiguous(value.type, border.order)) {
    border.order.clear();
    return border;
  }
  std::ranges::stable_sort(border.order, [&](std::size_t a, std::size_t b) {
    return value.type.strides[a] > value.type.strides[b];
  });
  if (!is_contiguous(value.type, border.order)) {
    border.order.clear();
    border.is_copied = true;
  }
  return border;
}

json permuted(const std::vector<json> &extents, const std::vector<std::size_t> &order) {
  if (order.empty())
    return extents;
  json result = json::array();
  for (const std::size_t dimension : order)
    result.push_back(extents[dimension]);
  return result;
}

/// The program's own names of the graph's symbols, in the order in which they occur: equal layers have equal programs.
class Symbols {
public:
  /// An extent or argument with sizes under the program's names and without hints.
  json renamed(const json &argument) {
    if (argument.is_array()) {
      json parts = json::array();
      for (const json &part : argument)
        parts.push_back(renamed(part));
      return parts;
    }
    if (!argument.is_object() || !argument.contains("size"))
      return argument;
    json terms = json::array();
    for (json term : argument.at("size")) {
      for (std::size_t i = 1; i < term.size(); ++i)
        term[i] = name(term[i].get<std::string>());
      terms.push_back(std::move(term));
    }
    return {{"size", std::move(terms)}};
  }
  std::vector<std::string> take() { return std::move(names_); }

private:
  std::string name(const std::string &symbol) {
    auto found = std::ranges::find(names_, symbol);
    if (found == names_.end())
      found = names_.insert(names_.end(), symbol);
    return "n" + std::to_string(found - names_.begin());
  }
  std::vector<std::string> names_;
};

/// Map from a value's name to its place in the program: the index of its owner, and of the owner's result.
class Places {
public:
  void add(const std::string &name, std::size_t owner, std::size_t result) { places_[name] = {owner, result}; }
  bool has(const std::string &name) const { return places_.contains(name); }
  json reference(const std::string &name) const {
    const auto &[owner, result] = places_.at(name);
    return json::array({owner, result});
  }
  /// The argument with names replaced by places, and with devices removed, because the caller's device is used.
  json rewritten(const json &argument) const {
    if (argument.is_array()) {
      json parts = json::array();
      for (const json &part : argument)
        parts.push_back(rewritten(part));
      return parts;
    }
    if (!argument.is_object())
      return argument;
    if (argument.contains("n"))
      return {{"v", reference(argument.at("n").get<std::string>())}};
    if (argument.contains("device"))
      return {{"device", ""}};
    return argument;
  }

private:
  std::map<std::string, std::pair<std::size_t, std::size_t>> places_;
};

/// Values that nodes outside the region read. Views are replaced by their source; the outside repeats the view.
std::vector<const Value *> outputs_of(const Graph &graph, const std::set<std::size_t> &inside) {
  std::map<std::string, const Node *> maker;
  for (const std::size_t index : inside)
    for (const Value &result : graph.nodes[index].results)
      maker[result.name] = &graph.nodes[index];
  std::set<std::string> wanted;
  const auto want = [&](std::string name) {
    for (auto found = maker.find(name); found != maker.end(); found = maker.find(name)) {
      if (!found->second->is_view) {
        wanted.insert(name);
        return;
      }
      name = read_values(*found->second).front();
    }
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (!inside.contains(i))
      std::ranges::for_each(read_values(graph.nodes[i]), want);
  std::ranges::for_each(graph.outputs, want);
  std::vector<const Value *> outputs;
  for (const std::size_t index : inside)
    for (const Value &result : graph.nodes[index].results)
      if (wanted.contains(result.name))
        outputs.push_back(&result);
  return outputs;
}

/// Pads and slices the bias of an attention again, whose rows must begin at multiples of 16 bytes. PyTorch pads it
/// earlier in the graph, but a region's inputs are contiguous and so lose the padding.
/// Errors: the length depends on a symbol.
Result<void> align_bias(const Node &node, const std::map<std::string, const Value *> &values, std::size_t inputs, json &operators, json &args) {
  constexpr std::int64_t kElements = 8;
  const auto attention = attention_of(node.op, node.args);
  if (!attention || !attention->bias || *attention->bias >= args.size() || !args[*attention->bias].is_object())
    return {};
  const Value &bias = *values.at(node.args[*attention->bias].at("n").get<std::string>());
  if (!bias.type.extents.back().is_number())
    return fail("the bias of an attention has a length that differs from call to call");
  const std::int64_t length = bias.type.shape.back(), padding = (kElements - length % kElements) % kElements;
  if (padding == 0)
    return {};
  json &argument = args[*attention->bias];
  const auto behind = [&](const char *op, json arguments) {
    operators.push_back({{"op", op}, {"args", std::move(arguments)}, {"kwargs", json::object()}, {"results", 1}});
    argument = {{"v", {inputs + operators.size() - 1, 0}}};
  };
  behind("aten.constant_pad_nd.default", json::array({argument, json::array({0, padding})}));
  behind("aten.slice.Tensor", json::array({argument, -1, 0, length}));
  return {};
}

/// Returns true for grouped-query attention: there are fewer heads of keys and values than of queries.
bool has_grouped_heads(const Node &node, const std::map<std::string, const Value *> &values) {
  if (!attention_of(node.op, node.args))
    return false;
  const auto heads = [&](std::size_t argument) {
    const TensorType &type = values.at(node.args[argument].at("n").get<std::string>())->type;
    return type.shape.size() < 3 ? 1 : type.shape[type.shape.size() - 3];
  };
  return heads(0) != heads(1);
}

/// Numbers the inputs as the operators read them, which the order of removed padding may have changed.
void order_inputs(Program &program) {
  const std::size_t count = program.inputs.size();
  std::vector<std::size_t> order, number(count, count);
  const auto for_each_read = [&](const std::function<void(json &)> &visit) {
    for (json &one : program.document["operators"])
      for (const char *arguments : {"args", "kwargs"})
        for_each_place(one[arguments], [&](json &place) {
          if (place[0].get<std::size_t>() < count)
            visit(place);
        });
  };
  for_each_read([&](const json &place) {
    if (std::size_t &known = number[place[0].get<std::size_t>()]; known == count) {
      known = order.size();
      order.push_back(place[0].get<std::size_t>());
    }
  });
  if (order.size() != count || std::ranges::is_sorted(order))
    return;
  for_each_read([&](json &place) { place[0] = number[place[0].get<std::size_t>()]; });
  json inputs = json::array();
  std::vector<Border> borders;
  for (const std::size_t k : order) {
    inputs.push_back(std::move(program.document["inputs"][k]));
    borders.push_back(std::move(program.inputs[k]));
  }
  program.document["inputs"] = std::move(inputs);
  program.inputs = std::move(borders);
}

} // namespace

Result<Program> program_of(const Graph &graph, const std::vector<std::size_t> &region) {
  const std::set<std::size_t> inside(region.begin(), region.end());
  const std::set<std::size_t> constants = constants_of(graph, region);
  std::vector<std::size_t> indices(constants.begin(), constants.end());
  indices.insert(indices.end(), region.begin(), region.end());
  std::set<std::string> made;
  std::map<std::string, const Value *> values;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const Value &result : graph.nodes[i].results) {
      values[result.name] = &result;
      if (inside.contains(i) || constants.contains(i))
        made.insert(result.name);
    }
  Program program;
  Places places;
  Symbols symbols;
  json inputs = json::array(), operators = json::array(), outputs = json::array();
  for (const std::size_t index : indices)
    for (const std::string &name : read_values(graph.nodes[index])) {
      if (made.contains(name) || places.has(name))
        continue;
      const Value &value = *values.at(name);
      if (!value.type.is_known)
        return fail("'" + name + "' has a size that is known only at run time");
      if (value.type.device != device_of(graph.nodes[region.front()]))
        return fail("'" + name + "' is on another device than the operators that read it");
      Border border = border_of(value);
      inputs.push_back({{"dtype", value.type.dtype}, {"shape", symbols.renamed(permuted(value.type.extents, border.order))}, {"order", border.order}});
      const IndexUse use = index_use(graph, indices, name, values);
      if (!use.limit.is_null())
        inputs.back()["below"] = symbols.renamed(use.limit);
      if (use.is_ascending)
        inputs.back()["ascending"] = true;
      places.add(name, program.inputs.size(), 0);
      program.inputs.push_back(std::move(border));
    }
  if (program.inputs.empty())
    return fail("the region reads no tensor, so that a call of it has no device");
  for (const std::size_t index : indices) {
    const Node &node = graph.nodes[index];
    json kwargs = json::object();
    for (const auto &[key, argument] : node.kwargs.items())
      kwargs[key] = symbols.renamed(places.rewritten(argument));
    json args = symbols.renamed(places.rewritten(node.args));
    if (auto aligned = align_bias(node, values, inputs.size(), operators, args); !aligned)
      return std::unexpected(aligned.error());
    for (std::size_t i = 0; i < node.results.size(); ++i)
      places.add(node.results[i].name, inputs.size() + operators.size(), i);
    operators.push_back({{"op", node.op}, {"args", std::move(args)}, {"kwargs", std::move(kwargs)}, {"results", node.results.size()}});
    if (has_grouped_heads(node, values))
      operators.back()["grouped_heads"] = true;
    program.operators += inside.contains(index) && !node.is_view;
  }
  for (const Value *value : outputs_of(graph, inside)) {
    Border border = border_of(*value);
    if (border.is_copied)
      return fail("'" + value->name + "' is not dense");
    outputs.push_back({{"value", places.reference(value->name)}, {"order", border.order}});
    program.outputs.push_back(std::move(border));
  }
  program.document = without_padding({{"inputs", std::move(inputs)},
                                      {"operators", std::move(operators)},
                                      {"outputs", std::move(outputs)}});
  order_inputs(program);
  program.symbols = symbols.take();
  return program;
}

std::string key_of(const json &program) { return sha256_hex(program.dump()); }

} // namespace warpwright::regions
