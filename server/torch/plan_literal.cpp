// Buffer by buffer and step by step.
#include "server/torch/plan_literal.h"

#include "server/torch/step_values.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::server {
namespace {

using model::Buffer;
using model::Direction;

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string number(double value) {
  if (std::isnan(value))
    return "float(\"nan\")";
  if (std::isinf(value))
    return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  return exact_number(value);
}

template <class Values, class Text>
std::string joined(const Values &values, Text text) {
  std::string result;
  for (const auto &value : values)
    result += (result.empty() ? "" : ", ") + text(value);
  return result;
}

std::string list(const std::vector<std::int64_t> &values) {
  return "[" + joined(values, [](std::int64_t value) { return std::to_string(value); }) + "]";
}

std::string triple(const std::array<std::int64_t, 3> &values) {
  return "(" + joined(values, [](std::int64_t value) { return std::to_string(value); }) + ")";
}

class Writer {
public:
  Writer(const model::Task &task, const model::Plan &plan) : task_(task), plan_(plan) {}

  Result<std::string> steps() const {
    std::string text;
    for (const model::Step &step : plan_.steps) {
      auto line = step_text(step);
      if (!line)
        return line;
      text += "        " + *line + ",\n";
    }
    return text;
  }

  std::string buffers(const std::vector<const Buffer *> &all) const {
    std::string text;
    for (const Buffer *buffer : all)
      text += "        (" + quoted(buffer->name) + ", " + quoted(model::name(buffer->dtype)) +
              ", " + list(buffer->shape) + "),\n";
    return text;
  }

  Result<std::string> temporaries() const {
    std::string text;
    for (const model::Temporary &temporary : plan_.temporaries) {
      auto elements = value_of(temporary.extent);
      if (!elements)
        return elements;
      text += "        (" + quoted(temporary.name) + ", " + quoted(model::name(temporary.dtype)) +
              ", [" + *elements + "]),\n";
    }
    return text;
  }

private:
  Result<std::string> value_of(const Expression &expression) const {
    const auto value = expression.evaluate(task_.sizes);
    if (!value)
      return std::unexpected(value.error());
    return std::to_string(*value);
  }

  Result<std::string> step_text(const model::Step &step) const {
    if (const auto *launch = std::get_if<model::LaunchStep>(&step))
      return launch_text(*launch);
    if (const auto *fill = std::get_if<model::FillStep>(&step))
      return "(\"fill\", " + quoted(fill->buffer) + ", " + std::to_string(fill->byte) + ")";
    if (const auto *aten = std::get_if<model::AtenStep>(&step))
      return aten_text(*aten);
    return fail("a plan holds the module itself as a step");
  }

  Result<std::string> launch_text(const model::LaunchStep &launch) const {
    const auto values = launch_values(launch, task_.sizes);
    if (!values)
      return std::unexpected(values.error());
    const std::string arguments = joined(values->arguments, [](const ArgumentValue &argument) {
      return std::visit([](const auto &value) { return argument_text(value); }, argument);
    });
    return "(\"launch\", " + quoted(launch.kernel) + ", " + triple(values->grid) + ", " +
           triple(values->block) + ", " + std::to_string(values->shared_bytes) + ", [" + arguments +
           "])";
  }

  static std::string argument_text(const BufferPlace &place) {
    return "(\"buffer\", " + quoted(place.buffer) + ", " + std::to_string(place.offset) + ")";
  }
  static std::string argument_text(const SizeValue &size) {
    return "(" + quoted(model::name(size.dtype)) + ", " + std::to_string(size.value) + ")";
  }
  static std::string argument_text(const model::ConstantArgument &constant) {
    return "(" + quoted(model::name(constant.dtype)) + ", " + constant_text(constant) + ")";
  }

  static std::string constant_text(const model::ConstantArgument &constant) {
    const bool is_float =
        constant.dtype == model::Dtype::Float16 || constant.dtype == model::Dtype::BFloat16 ||
        constant.dtype == model::Dtype::Float32 || constant.dtype == model::Dtype::Float64;
    return is_float ? number(constant.value)
                    : std::to_string(static_cast<std::int64_t>(constant.value));
  }

  static std::string view(const model::TensorView &tensor) {
    if (tensor.buffer.empty())
      return "None";
    return "(\"view\", " + quoted(tensor.buffer) + ", " + std::to_string(tensor.offset) + ", " +
           list(tensor.shape) + ", " + list(strides_of(tensor)) + ")";
  }

  static std::string value_text(const model::AtenArgument &argument) {
    if (const auto *tensor = std::get_if<model::TensorView>(&argument))
      return view(*tensor);
    if (const auto *tensors = std::get_if<std::vector<model::TensorView>>(&argument))
      return "[" + joined(*tensors, view) + "]";
    if (const auto *flag = std::get_if<bool>(&argument))
      return *flag ? "True" : "False";
    if (const auto *integer = std::get_if<std::int64_t>(&argument))
      return std::to_string(*integer);
    if (const auto *real = std::get_if<double>(&argument))
      return number(*real);
    if (const auto *integers = std::get_if<std::vector<std::int64_t>>(&argument))
      return list(*integers);
    if (const auto *word = std::get_if<std::string>(&argument))
      return quoted(*word);
    return "None";
  }

  static Result<std::string> aten_text(const model::AtenStep &step) {
    const std::string keywords = joined(step.keywords, [](const auto &keyword) {
      return quoted(keyword.first) + ": " + value_text(keyword.second);
    });
    const std::string results = joined(step.results, [](const model::TensorView &result) {
      return result.buffer.empty() ? "None"
                                   : "(" + quoted(result.buffer) + ", " + list(result.shape) +
                                         ", " + list(strides_of(result)) + ")";
    });
    return "(\"aten\", " + quoted(step.op) + ", [" + joined(step.arguments, value_text) + "], {" +
           keywords + "}, [" + results + "])";
  }

  const model::Task &task_;
  const model::Plan &plan_;
};

std::set<std::string> state_of(const model::Graph &graph) {
  std::set<std::string> state;
  for (const model::Node &node : graph.nodes)
    if (node.op == "parameter")
      state.insert(node.name);
  return state;
}

std::string repeated(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += i ? ", ..." : "...";
  return text;
}

} // namespace

Result<std::string> plan_literal(const model::Task &task, const model::Graph &graph,
                                 const model::Plan &plan, const CallPatterns &patterns,
                                 const std::string &source, int compute_capability) {
  const std::set<std::string> own = state_of(graph);
  std::vector<const Buffer *> arguments, results, state;
  for (const Buffer &buffer : task.buffers) {
    (buffer.direction == Direction::Out ? results : arguments).push_back(&buffer);
    if (buffer.direction != Direction::Out && own.contains(buffer.name))
      state.push_back(&buffer);
  }
  const Writer writer(task, plan);
  auto temporaries = writer.temporaries();
  auto steps = writer.steps();
  for (const auto *part : {&temporaries, &steps})
    if (!*part)
      return std::unexpected(part->error());
  const std::string inputs = patterns.inputs.empty()
                                 ? "[" + repeated(arguments.size() - state.size()) + "]"
                                 : patterns.inputs;
  const std::string outputs = !patterns.outputs.empty() ? patterns.outputs
                              : results.size() == 1     ? "..."
                                                        : "(" + repeated(results.size()) + ")";
  const std::string names = joined(state, [](const Buffer *buffer) {
    return quoted(buffer->torch_name.empty() ? buffer->name : buffer->torch_name);
  });
  return "{\n    \"training\": " + std::string(task.module->training ? "True" : "False") +
         ",\n    \"inputs\": " + inputs + ",\n    \"outputs\": " + outputs + ",\n    \"state\": [" +
         names + "],\n    \"arguments\": [\n" + writer.buffers(arguments) +
         "    ],\n    \"results\": [\n" + writer.buffers(results) +
         "    ],\n    \"temporaries\": [\n" + *temporaries + "    ],\n    \"capability\": " +
         (compute_capability > 0 ? std::to_string(compute_capability) : "None") +
         ",\n    \"source\": " + source + ",\n    \"options\": [" + joined(plan.options, quoted) +
         "],\n    \"steps\": [\n" + *steps + "    ],\n}\n";
}

} // namespace warpwright::server
