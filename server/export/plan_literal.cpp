// Python text of a plan's buffers and steps; see plan_literal.h.
#include "server/export/plan_literal.h"

#include "arch/gpu.h"
#include "plan/program.h"
#include "support/hash.h"
#include "support/text.h"
#include "support/words.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::server {
namespace {

using model::Buffer;
using model::Direction;

std::string python_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string python_number(double value) {
  if (std::isnan(value))
    return "float(\"nan\")";
  if (std::isinf(value))
    return value > 0 ? "float(\"inf\")" : "float(\"-inf\")";
  return exact_number(value);
}

std::string python_list(const std::vector<std::int64_t> &values) {
  return "[" + joined(values, ", ", [](std::int64_t value) { return std::to_string(value); }) + "]";
}

std::string python_triple(const std::array<std::uint32_t, 3> &values) {
  return "(" + joined(values, ", ", [](std::uint32_t value) { return std::to_string(value); }) + ")";
}

class LiteralWriter {
public:
  explicit LiteralWriter(const plan::Program &program) : program_(program) {}

  Result<std::string> steps() const {
    std::string text;
    for (const plan::Step &step : program_.steps) {
      if (std::holds_alternative<const model::ModuleStep *>(step))
        return fail("a plan holds the module itself as a step");
      text += "        " + std::visit([&](const auto &one) { return text_of(one); }, step) + ",\n";
    }
    return text;
  }

  std::string buffers(const std::vector<const Buffer *> &all) const {
    std::string text;
    for (const Buffer *buffer : all)
      text += tensor(buffer->name, buffer->dtype, buffer->shape);
    return text;
  }

  std::string temporaries() const {
    std::string text;
    for (const plan::Place &place : program_.places)
      if (place.kind == plan::Place::Kind::Temporary)
        text += tensor(place.name, place.dtype, {place.elements});
    return text;
  }

private:
  static std::string tensor(const std::string &name, model::Dtype dtype,
                            const std::vector<std::int64_t> &shape) {
    return "        (" + python_text(name) + ", " + python_text(model::name(dtype)) + ", " +
           python_list(shape) + "),\n";
  }

  std::string text_of(const plan::Launch &launch) const {
    const std::string arguments = joined(launch.arguments, ", ", [&](const plan::Argument &argument) {
      return std::visit([&](const auto &value) { return text_of(value); }, argument);
    });
    return "(\"launch\", " + python_text(program_.kernels[launch.kernel].name) + ", " +
           python_triple(launch.grid) + ", " + python_triple(launch.block) + ", " +
           std::to_string(launch.shared_bytes) + ", [" + arguments +
           (launch.cooperative  ? "], True)"
            : launch.overlapped ? "], \"overlapped\")"
                                : "])");
  }

  std::string text_of(const plan::Fill &fill) const {
    return "(\"fill\", " + python_text(program_.places[fill.place].name) + ", " +
           std::to_string(fill.byte) + ")";
  }

  std::string text_of(const plan::PlaceArgument &argument) const {
    const std::string place =
        python_text(program_.places[argument.place].name) + ", " + std::to_string(argument.offset);
    if (const auto &map = argument.map)
      return "(\"map\", " + place + ", (" + std::to_string(map->driver_dtype()) + ", " +
             python_list(map->extents) + ", " + python_list(map->strides_bytes()) + ", " + python_list(map->box) + ", " +
             std::to_string(map->driver_swizzle()) +
             (map->window ? ", " + python_list(map->window->first) + ", " + python_list(map->window->last) + ", " +
                                python_list(map->window->steps)
                          : "") +
             "))";
    return "(\"buffer\", " + place + ")";
  }

  /// Plans of modules pass no structs (support/model/check_plan.cpp).
  static std::string text_of(const plan::StructArgument &) { return {}; }

  static std::string text_of(const plan::NumberArgument &argument) {
    const auto *real = std::get_if<double>(&argument.value);
    return "(" + python_text(model::name(argument.dtype)) + ", " +
           (real ? python_number(*real) : std::to_string(std::get<std::int64_t>(argument.value))) + ")";
  }

  static std::string text_of(const model::ModuleStep *) { return {}; }

  static std::vector<std::int64_t> strides(const model::TensorView &view) {
    return model::strides_of({model::Dtype::Float32, view.shape, view.strides});
  }

  static std::string view(const model::TensorView &tensor) {
    if (tensor.buffer.empty())
      return "None";
    return "(\"view\", " + python_text(tensor.buffer) + ", " + std::to_string(tensor.offset) + ", " +
           python_list(tensor.shape) + ", " + python_list(strides(tensor)) + ")";
  }

  static std::string value_text(const model::AtenArgument &argument) {
    if (const auto *tensor = std::get_if<model::TensorView>(&argument))
      return view(*tensor);
    if (const auto *tensors = std::get_if<std::vector<model::TensorView>>(&argument))
      return "[" + joined(*tensors, ", ", view) + "]";
    if (const auto *flag = std::get_if<bool>(&argument))
      return *flag ? "True" : "False";
    if (const auto *integer = std::get_if<std::int64_t>(&argument))
      return std::to_string(*integer);
    if (const auto *real = std::get_if<double>(&argument))
      return python_number(*real);
    if (const auto *integers = std::get_if<std::vector<std::int64_t>>(&argument))
      return python_list(*integers);
    if (const auto *word = std::get_if<std::string>(&argument))
      return python_text(*word);
    return "None";
  }

  static std::string text_of(const model::AtenStep *given) {
    const model::AtenStep &step = *given;
    const std::string keywords = joined(step.keywords, ", ", [](const auto &keyword) {
      return python_text(keyword.first) + ": " + value_text(keyword.second);
    });
    const std::string results = joined(step.results, ", ", [](const model::TensorView &result) {
      return result.buffer.empty() ? "None"
                                   : "(" + python_text(result.buffer) + ", " + python_list(result.shape) +
                                         ", " + python_list(strides(result)) + ")";
    });
    return "(\"aten\", " + python_text(step.op) + ", [" + joined(step.arguments, ", ", value_text) + "], {" +
           keywords + "}, [" + results + "])";
  }

  const plan::Program &program_;
};

std::set<std::string> state_of(const model::Graph &graph) {
  std::set<std::string> state;
  for (const model::Node &node : graph.nodes)
    if (node.op == "parameter")
      state.insert(node.name);
  return state;
}

std::string number_or_none(int value) { return value > 0 ? std::to_string(value) : "None"; }

std::string joined_lines(const std::vector<std::string> &values) {
  std::string text;
  for (const std::string &value : values)
    text += "        " + value + ",\n";
  return text;
}

/// The end of the string literal that begins at `start`; npos when it does not end on its line.
std::size_t end_of_string(const std::string &text, std::size_t start) {
  for (std::size_t i = start + 1; i < text.size() && text[i] != '\n'; ++i)
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[start])
      return i + 1;
  return std::string::npos;
}

/// True if a text consists of Python literals, brackets and calls of float() only.
bool is_literal(const std::string &text) {
  const std::set<std::string> words = {"True", "False", "None", "float", "b", "e", "j"};
  for (std::size_t i = 0; i < text.size();) {
    const auto letter = [&](std::size_t at) {
      return at < text.size() && (std::isalpha(static_cast<unsigned char>(text[at])) || text[at] == '_');
    };
    if (text[i] == '"' || text[i] == '\'') {
      i = end_of_string(text, i);
      if (i == std::string::npos)
        return false;
    } else if (letter(i)) {
      const std::size_t start = i;
      while (letter(i))
        ++i;
      if (!words.contains(text.substr(start, i - start)))
        return false;
    } else if (std::string_view(" []{}(),:.+-0123456789").contains(text[i])) {
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

std::unexpected<Error> not_literal() {
  return fail("the module's call contains more than literals",
              "Optimize with a runner of this version that you trust");
}

std::string repeated(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += i ? ", ..." : "...";
  return text;
}

} // namespace

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

VerifiedDevice verified_device(const model::DeviceInfo &device) {
  return {model::capability_of(device), device.multiprocessors};
}

Result<std::string> plan_literal(const model::Task &task, const model::Graph &graph,
                                 const model::Plan &plan, const CallPatterns &patterns,
                                 const VerifiedDevice &device) {
  for (const std::string &text : patterns.guards)
    if (!is_literal(text))
      return not_literal();
  if (!is_literal(patterns.inputs) || !is_literal(patterns.outputs))
    return not_literal();
  const std::set<std::string> own = state_of(graph);
  std::vector<const Buffer *> arguments, results, state;
  for (const Buffer &buffer : task.buffers) {
    (buffer.direction == Direction::Out ? results : arguments).push_back(&buffer);
    if (buffer.direction != Direction::Out && own.contains(buffer.name))
      state.push_back(&buffer);
  }
  const auto program = plan::program_of(plan, task, task.sizes);
  if (!program)
    return std::unexpected(program.error());
  const LiteralWriter writer(*program);
  const auto steps = writer.steps();
  if (!steps)
    return steps;
  const std::string inputs = patterns.inputs.empty()
                                 ? "[" + repeated(arguments.size() - state.size()) + "]"
                                 : patterns.inputs;
  const std::string outputs = !patterns.outputs.empty() ? patterns.outputs
                              : results.size() == 1     ? "..."
                                                        : "(" + repeated(results.size()) + ")";
  const std::string names = joined(state, ", ", [](const Buffer *buffer) {
    return python_text(buffer->torch_name.empty() ? buffer->name : buffer->torch_name);
  });
  return "{\n    \"name\": " + python_text(task.module->model) + ",\n    \"guards\": [\n" +
         joined_lines(patterns.guards) + "    ],\n    \"inputs\": " + inputs + ",\n    \"outputs\": " + outputs + ",\n    \"state\": [" +
         names + "],\n    \"arguments\": [\n" + writer.buffers(arguments) +
         "    ],\n    \"results\": [\n" + writer.buffers(results) +
         "    ],\n    \"temporaries\": [\n" + writer.temporaries() + "    ],\n    \"capability\": " +
         number_or_none(device.compute_capability) + ",\n    \"target\": " +
         (device.compute_capability
              ? python_text(arch::compile_target(device.compute_capability))
              : "None") +
         ",\n    \"multiprocessors\": " + number_or_none(device.multiprocessors) +
         ",\n    \"sha256\": " + python_text(sha256_hex(plan.source)) + ",\n    \"options\": [" + joined(plan.options, ", ", python_text) +
         "],\n    \"steps\": [\n" + *steps + "    ],\n}\n";
}

} // namespace warpwright::server
