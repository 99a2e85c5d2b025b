#include "regions/drawing.h"
#include "regions/program.h"
#include "regions/python_text.h"

namespace warpwright::regions {

using nlohmann::json;

std::string list_of(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

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

namespace {

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
         constructor + PythonText(program).forward() + drawing_functions(drawings) +
         "\n\ndef get_inputs(" + list_of(sizes) +
         "):\n    return [\n" + drawings + "    ]\n\n\ndef get_init_inputs():\n    return []\n";
}

} // namespace warpwright::regions
