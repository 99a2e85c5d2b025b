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

namespace {

std::string list_of(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string order_text(const json &order) { return "(" + list_of([&] {
    std::vector<std::string> parts;
    for (const json &one : order)
      parts.push_back(one.dump());
    return parts;
  }()) + ",)"; }

json inverse(const json &order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[order[i].get<std::size_t>()] = i;
  return result;
}

/// Python text of {"size": TERMS}, a sum of products: [[12, "n0", "n1"], [1]] is 12 * n0 * n1 + 1.
/// @param owner "self." in methods, "" in functions that have the sizes as parameters
std::string size_text(const json &terms, const std::string &owner) {
  std::string sum;
  for (const json &term : terms) {
    std::string product = term.at(0).dump();
    for (std::size_t i = 1; i < term.size(); ++i)
      product += " * " + owner + term[i].get<std::string>();
    sum += (sum.empty() ? "" : " + ") + product;
  }
  return "(" + (sum.empty() ? "0" : sum) + ")";
}

class PythonText {
public:
  explicit PythonText(const json &program) : program_(program), inputs_(program.at("inputs").size()) {}

  std::string forward() const {
    std::vector<std::string> parameters = {"self"};
    std::string body;
    for (std::size_t i = 0; i < inputs_; ++i) {
      parameters.push_back(name(i));
      if (const json &order = program_["inputs"][i]["order"]; !order.empty())
        body += "        " + name(i) + " = " + name(i) + ".permute" + order_text(inverse(order)) + "\n";
    }
    const json &operators = program_["operators"];
    for (std::size_t k = 0; k < operators.size(); ++k)
      body += "        " + name(inputs_ + k) + " = " + call(operators[k]) + "\n";
    std::vector<std::string> results;
    for (const json &output : program_["outputs"]) {
      std::string text = value(output["value"]);
      if (!output["order"].empty())
        text += ".permute" + order_text(output["order"]);
      results.push_back(text + ".contiguous()");
    }
    return "    def forward(" + list_of(parameters) + "):\n" + body + "        return " +
           (results.size() == 1 ? results[0] : "(" + list_of(results) + ")") + "\n";
  }

private:
  std::string name(std::size_t k) const { return (k < inputs_ ? "a" : "b") + std::to_string(k < inputs_ ? k : k - inputs_); }

  std::string value(const json &reference) const {
    const auto k = reference[0].get<std::size_t>();
    const bool is_one = k < inputs_ || program_["operators"][k - inputs_]["results"] == 1;
    return name(k) + (is_one ? "" : "[" + reference[1].dump() + "]");
  }

  /// Python text of one operator. Conversions use Tensor.to(), because PyTorch before version 2 has no operator.
  std::string call(const json &one) const {
    std::vector<std::string> arguments;
    for (const json &argument : one["args"])
      arguments.push_back(text(argument));
    const std::string op = one["op"].get<std::string>();
    if (op.starts_with("prims.convert_element_type"))
      return arguments[0] + ".to(" + arguments[1] + ")";
    if (op == "aten.view.default" || op == "aten._unsafe_view.default") // the runner's operand may have other strides
      return arguments[0] + ".reshape(" + arguments[1] + ")";
    if (op == "prims.rev.default")
      return "torch.flip(" + list_of(arguments) + ")";
    if (op == "prims.fma.default") // Inductor defines it, and the runner's PyTorch may have none
      return "(" + arguments[0] + " * " + arguments[1] + " + " + arguments[2] + ")";
    if (op.starts_with("prims.iota"))
      return iota_text(one, arguments);
    if (is_max_pool(op)) // its second result is not read
      return "(torch.nn.functional.max_pool" + std::to_string(one["args"][1].size()) + "d(" + list_of(arguments) + "),)";
    if (const auto attention = attention_of(op, one["args"]))
      return attention_text(*attention, one, arguments);
    for (const auto &[key, argument] : one["kwargs"].items())
      arguments.push_back(key + "=" + text(argument));
    return "torch.ops." + op + "(" + list_of(arguments) + ")";
  }

  /// torch.arange() for an iota of (length, start, step, dtype, device).
  std::string iota_text(const json &one, const std::vector<std::string> &arguments) const {
    const json &kwargs = one["kwargs"];
    const std::string start = this->text(kwargs.value("start", json(0))),
                      step = this->text(kwargs.value("step", json(1)));
    std::string text = "torch.arange(" + start + ", " + start + " + " + arguments[0] + " * " + step + ", " + step;
    for (const char *key : {"dtype", "device"})
      if (kwargs.contains(key))
        text += std::string(", ") + key + "=" + this->text(kwargs[key]);
    return text + ")";
  }

  /// PyTorch's public attention function in place of the graph's implementation, whose other results are not read.
  std::string attention_text(const Attention &places, const json &one, const std::vector<std::string> &arguments) const {
    std::string text = "(torch.nn.functional.scaled_dot_product_attention(" + arguments[0] + ", " + arguments[1] + ", " + arguments[2];
    if (places.bias && *places.bias < arguments.size())
      text += ", attn_mask=" + arguments[*places.bias];
    if (places.causal < arguments.size())
      text += ", is_causal=" + arguments[places.causal];
    if (one["kwargs"].contains("scale"))
      text += ", scale=" + this->text(one["kwargs"]["scale"]);
    if (one.contains("grouped_heads"))
      text += ", enable_gqa=True";
    return text + "),)";
  }

  std::string text(const json &argument) const {
    if (argument.is_null())
      return "None";
    if (argument.is_boolean())
      return argument.get<bool>() ? "True" : "False";
    if (argument.is_array()) {
      std::vector<std::string> parts;
      for (const json &part : argument)
        parts.push_back(text(part));
      return "[" + list_of(parts) + "]";
    }
    if (!argument.is_object())
      return argument.is_string() ? "\"" + argument.get<std::string>() + "\"" : argument.dump();
    if (argument.contains("v"))
      return value(argument["v"]);
    if (argument.contains("size"))
      return size_text(argument["size"], "self.");
    if (argument.contains("float"))
      return "float(\"" + argument["float"].get<std::string>() + "\")";
    if (argument.contains("device"))
      return inputs_ > 0 ? "a0.device" : "\"cpu\"";
    const std::string name = argument.begin().value().get<std::string>();
    if (name == "bfloat16" || name == "float16") // follows an input, which may be float64
      for (std::size_t i = 0; i < inputs_; ++i)
        if (program_["inputs"][i]["dtype"] == name)
          return "a" + std::to_string(i) + ".dtype";
    return "torch." + name;
  }

  const json &program_;
  const std::size_t inputs_;
};

/// Minimum spread of random inputs, as a fraction of the mean: even constant inputs vary a little, so that
/// a plan cannot rely on their value.
constexpr double kLeastSpread = 0.05;

/// Dimension of a drawn input along which its integers never fall.
std::optional<std::size_t> ascending_dimension(const json &input, const json &profile) {
  const std::size_t rank = input["shape"].size();
  std::optional<std::size_t> dimension;
  if (profile.is_object() && profile.contains("ascending"))
    dimension = profile["ascending"].get<std::size_t>();
  else if (input.contains("ascending") && rank > 0)
    dimension = rank - 1;
  if (!dimension || input["order"].empty())
    return dimension;
  const auto order = input["order"].get<std::vector<std::size_t>>();
  return static_cast<std::size_t>(std::ranges::find(order, *dimension) - order.begin());
}

/// Python function of files in which integers ascend.
constexpr const char *kAscending =
    "\n\ndef ascending(values, dim, first):\n"
    "    values = values.sort(dim).values\n"
    "    return values - values.narrow(dim, 0, 1) + first\n";

std::string integer_drawing(const json &input, const json &profile, const std::string &shape) {
  const bool known = profile.is_object() && profile.contains("low");
  const json below = input.value("below", json(2)); // an index reaches all elements
  const std::string limit = below.is_object() ? size_text(below.at("size"), "") : below.dump(),
                    low = known ? profile["low"].dump() : "0";
  std::string end = known ? std::to_string(profile["high"].get<std::int64_t>() + 1) : limit;
  if (known && below.is_object()) // at another size an index of the call may be too large
    end = "min(" + end + ", " + limit + ")";
  std::string drawn = "torch.randint(" + low + ", " + end + ", " + shape + ", dtype=torch." +
                      input["dtype"].get<std::string>() + ")";
  if (known && profile.contains("mark"))
    drawn = "torch.where(torch.rand(" + shape + ") < " + profile["mark"]["share"].dump() + ", " +
            profile["mark"]["value"].dump() + ", " + drawn + ")";
  const auto dimension = ascending_dimension(input, profile);
  return dimension ? "ascending(" + drawn + ", " + std::to_string(*dimension) + ", " + low + ")" : drawn;
}

std::string drawing(const json &input, const json &profile) {
  std::vector<std::string> extents;
  for (const json &extent : input["shape"])
    extents.push_back(extent.is_object() ? size_text(extent.at("size"), "") : extent.dump());
  const std::string dtype = input["dtype"].get<std::string>(), shape = "[" + list_of(extents) + "]";
  if (dtype == "bool")
    return "torch.rand(" + shape + ") < 0.5";
  if (dtype.find("float") == std::string::npos)
    return integer_drawing(input, profile, shape);
  const std::string drawn = "torch.randn(" + shape + ")", conversion = dtype == "float32" ? "" : ".to(torch." + dtype + ")";
  if (!profile.is_object() || !profile.contains("mean"))
    return drawn + conversion;
  const double mean = profile["mean"].get<double>(), low = profile["low"].get<double>();
  const double spread = std::max(profile["std"].get<double>(), kLeastSpread * std::abs(mean));
  std::string text = "(" + json(mean).dump() + " + " + json(spread).dump() + " * " + drawn + ")";
  if (low >= 0) // for example a variance, a mask or a probability
    text += ".abs().clamp_min(" + json(low / 2).dump() + ")";
  return text + conversion;
}

} // namespace

std::string python_of(const json &program, const json &profile,
                      const std::vector<std::string> &sizes) {
  std::string constructor, drawings;
  if (!sizes.empty()) {
    constructor = "    def __init__(self, " + list_of(sizes) + "):\n        super().__init__()\n";
    for (const std::string &size : sizes)
      constructor += "        self." + size + " = " + size + "\n";
    constructor += "\n";
  }
  for (std::size_t i = 0; i < program.at("inputs").size(); ++i)
    drawings += "        " + drawing(program["inputs"][i], profile.is_array() && i < profile.size() ? profile[i] : json()) + ",\n";
  return "\"\"\"A region of a model, as torch.compile has it.\"\"\"\nimport torch\n\n\n"
         "class Model(torch.nn.Module):\n" +
         constructor + PythonText(program).forward() + (drawings.contains("ascending(") ? kAscending : "") +
         "\n\ndef get_inputs(" + list_of(sizes) +
         "):\n    return [\n" + drawings + "    ]\n\n\ndef get_init_inputs():\n    return []\n";
}

} // namespace warpwright::regions
