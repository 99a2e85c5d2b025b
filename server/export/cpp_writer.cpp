#include "server/export/cpp_writer.h"

#include "arch/gpu.h"
#include "server/export/cpp_steps.h"
#include "server/export/plan_literal.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::server {
namespace {

/// Template of a variant's own part of a C++ file. Placeholders: the @COUNT@ of kernels, their @NAMES@ and @SHARED@
/// bytes, further @OPTIONS@ of NVRTC, and the @CAPABILITY@ of the GPU or 0.
constexpr const char *kRuntimeCppVariant =
#include "server/export/cpp_variant.inc.inc"
    ;

constexpr const char *kIncludes = R"(#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>
)";

std::string quoted(const std::string &text) {
  return '"' + replaced(replaced(text, "\\", "\\\\"), "\"", "\\\"") + '"';
}

std::string cpp_comment(const std::string &text) {
  std::string result = "// ";
  for (const char c : text)
    result += c == '\n' ? std::string("\n// ") : std::string(1, c);
  return result + "\n";
}

std::string namespace_of(const analysis::Kernel &function) { return "warpwright_" + function.name; }

std::string runtime_text(const CppSteps &steps, const model::Plan &plan,
                         const CppVariant &variant) {
  std::string options;
  const auto listed = [&](const auto &text) { return joined(steps.kernels, ", ", text); };
  const auto numbers = [&](auto member) {
    return listed([&](const plan::Kernel &kernel) { return std::to_string(kernel.*member); });
  };
  const bool says_standard = std::ranges::any_of(
      plan.options, [](const std::string &option) { return option.contains("-std="); });
  if (!says_standard)
    options += ", \"-std=c++17\"";
  for (const std::string &option : plan.options)
    options += ", " + quoted(option);
  std::string text = replaced(kRuntimeCppVariant, "@COUNT@", std::to_string(steps.kernels.size()));
  text = replaced(text, "@NAMES@", listed([](const plan::Kernel &one) { return quoted(one.name); }));
  text = replaced(text, "@SHARED@", numbers(&plan::Kernel::shared_bytes));
  text = replaced(text, "@TOGETHER@", numbers(&plan::Kernel::resident_blocks));
  text = replaced(text, "@THREADS@", numbers(&plan::Kernel::threads));
  text = replaced(text, "@OPTIONS@", options);
  text = replaced(text, "@TARGET@",
                  variant.compute_capability ? arch::compile_target(variant.compute_capability)
                                             : "");
  return replaced(text, "@CAPABILITY@", std::to_string(variant.compute_capability));
}

/// Template of a function that finds the object's tensors by their registered names, which the task also uses.
constexpr const char *kWithState = R"(
/// Behind the inputs of a call the object's own tensors; nothing where the object does not hold them all.
std::vector<at::Tensor> with_state(std::vector<at::Tensor> inputs,
                                   const torch::nn::Module &object) {
  const auto parameters = object.named_parameters(), buffers = object.named_buffers();
  for (const char *name : {@STATE@}) {
    const at::Tensor *tensor = parameters.find(name);
    if (!tensor)
      tensor = buffers.find(name);
    if (!tensor)
      return {};
    inputs.push_back(*tensor);
  }
  return inputs;
}
)";

/// Text of a variant whose kernels read tiles by tensor maps.
constexpr const char *kTensorMap = R"(
/// Tiles of an array in memory, or of a window's positions on it, as the bulk copy engine reads them.
struct TensorMap {
  alignas(64) unsigned char bytes[128];
};

TensorMap tensor_map(void *address, int dtype, at::IntArrayRef extents, at::IntArrayRef strides_bytes, at::IntArrayRef box,
                     int swizzle, at::IntArrayRef first = {}, at::IntArrayRef last = {}, at::IntArrayRef window_steps = {}) {
  TensorMap map;
  const std::vector<uint32_t> narrow(box.begin(), box.end());
  std::vector<uint32_t> steps(extents.size(), 1);
  std::copy(window_steps.begin(), window_steps.end(), steps.begin() + 1);
  const std::vector<int> lower(first.begin(), first.end()), upper(last.begin(), last.end());
  const auto rank = static_cast<uint32_t>(extents.size());
  const Toolkit &toolkit = launcher().toolkit;
  TORCH_CHECK(first.empty() ? toolkit.call(toolkit.driver, "cuTensorMapEncodeTiled", &map, dtype, rank, address, extents.data(),
                                           strides_bytes.data(), narrow.data(), steps.data(), 0, swizzle, 3, 0)
                            : toolkit.call(toolkit.driver, "cuTensorMapEncodeIm2col", &map, dtype, rank, address, extents.data(),
                                           strides_bytes.data(), lower.data(), upper.data(), narrow[0], narrow[1], steps.data(),
                                           0, swizzle, 3, 0),
              "the driver makes no tensor map");
  return map;
}
)";

/// The namespace of a variant. @param state quoted names of the object's tensors; empty when no tensor is needed
std::string helpers(const analysis::Kernel &function, const CppSteps &steps,
                    const model::Plan &plan, const CppVariant &variant, const std::string &state) {
  return cpp_comment("Warpwright's variant " + variant.plan + " of " + function.name + ". " +
                   variant.comment) +
         "namespace " + namespace_of(function) +
         " {\nnamespace {\n\nconst char *const kSource = " + "R\"warpwright(" + plan.source +
         ")warpwright\";\n\n" + runtime_text(steps, plan, variant) +
         (steps.body.contains("tensor_map(") ? kTensorMap : "") +
         (state.empty() ? "" : replaced(kWithState, "@STATE@", state)) +
         "\n/// Empty if the arguments differ from those of the verification.\n"
         "std::vector<at::Tensor> run(const std::vector<at::Tensor> &inputs) {\n" +
         (state.empty() ? "" : "  if (inputs.empty())\n    return {};\n") + steps.checks +
         "  const c10::cuda::CUDAGuard guard(inputs[0].device());\n"
         "  const Kernels *kernels = launcher().loaded();\n  if (!kernels)\n    return {};\n"
         "  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();\n"
         "  const auto on_device = inputs[0].options().requires_grad(false);\n" +
         steps.body + "  return {" + steps.outputs + "};\n}\n\n} // namespace\n} // namespace " +
         namespace_of(function) + "\n";
}

/// Arguments of the function as in its task: tensors in order, and conditions on the other arguments.
struct Arguments {
  std::string tensors, conditions, all;
  std::string state; ///< quoted names of the object's tensors, which follow those of the call
};

/// Items of a list such as "[torch.randn([2, 3]), 4, None]", split at the outer commas.
std::vector<std::string> items_of(const std::string &list) {
  std::vector<std::string> items(1);
  int depth = 0;
  for (const char c : list.substr(1, list.size() - 2)) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (c == ',' && depth == 0)
      items.emplace_back();
    else if (c != ' ' || !items.back().empty())
      items.back() += c;
  }
  return items;
}

Arguments arguments_of(const analysis::Kernel &function, const model::TorchModule &module) {
  Arguments result;
  const std::vector<std::string> values = items_of(module.inputs);
  for (std::size_t i = 0; i < function.parameters.size() && i < values.size(); ++i) {
    const std::string &name = function.parameters[i].name, &value = values[i];
    const bool optional = function.parameters[i].type.contains("optional");
    result.all += (i ? ", " : "") + name;
    if (value.contains("torch.")) {
      result.tensors += (result.tensors.empty() ? "" : ", ") + (optional ? "*" + name : name);
      if (optional)
        result.conditions += name + ".has_value() && ";
    } else if (value == "None") {
      result.conditions +=
          optional ? "!" + name + ".has_value() && " : "!" + name + ".defined() && ";
    } else {
      const std::string number = value == "True" ? "true" : value == "False" ? "false" : value;
      result.conditions +=
          name + " == static_cast<std::decay_t<decltype(" + name + ")>>(" + number + ") && ";
    }
  }
  return result;
}

std::string same_value(const std::string &name, const std::string &value) {
  const std::string type = "std::decay_t<decltype(" + name + ")>";
  return name + " == " +
         (value.starts_with("{") ? type + value : "static_cast<" + type + ">(" + value + ")");
}

std::string all_same(const std::vector<std::pair<std::string, std::string>> &values) {
  return joined(values, " && ", [](const auto &one) { return same_value(one.first, one.second); });
}

constexpr const char *kMadeAsVerified = "warpwright_made_as_verified_";

/// Number of tensors among the arguments of a call, which are the first buffers of the task.
std::size_t given_tensors(const model::TorchModule &module) {
  return static_cast<std::size_t>(std::ranges::count_if(
      items_of(module.inputs), [](const std::string &item) { return item.contains("torch."); }));
}

/// Adds the object's tensors to forward's own arguments, and the object's mode and numbers to the conditions.
void add_state(const analysis::CppForward &forward, const model::Task &task,
               const std::vector<std::string> &inputs, Arguments &arguments) {
  for (std::size_t i = given_tensors(*task.module); i < task.buffers.size(); ++i)
    if (std::ranges::find(inputs, task.buffers[i].name) != inputs.end())
      arguments.state +=
          (arguments.state.empty() ? "" : ", ") + quoted(task.buffers[i].torch_name);
  std::string conditions = task.module->mode == model::ModuleMode::Train
                               ? "is_training() && "
                               : "!is_training() && ";
  if (!forward.made_with.empty())
    conditions += kMadeAsVerified + std::string(" && ");
  if (!forward.numbers.empty())
    conditions += all_same(forward.numbers) + " && ";
  arguments.conditions = conditions + arguments.conditions;
}

/// The declaration without `virtual`, `override` and `final`.
std::string without_specifiers(std::string text) {
  for (const char *word : {"virtual ", " override", " final"})
    text = replaced(std::move(text), word, "");
  return text;
}

/// Offset after the line of the last #include before the function; 0 when there is none.
std::size_t place_of_includes(const std::string &source, std::size_t before) {
  const std::size_t last = source.rfind("#include", before);
  if (last == std::string::npos)
    return 0;
  const std::size_t end = source.find('\n', last);
  return end == std::string::npos ? 0 : end + 1;
}

/// New body of the function, from "{" to "}".
/// @param result_type the text of the declaration before the name
std::string new_body(const model::Task &task, const analysis::Kernel &function,
                     const Arguments &arguments, const std::string &result_type,
                     const std::string &as_written) {
  const bool lists = result_type.contains("vector") || result_type.contains("tuple") ||
                     result_type.contains("pair");
  std::string results = lists ? "{" : "";
  const auto outputs = std::ranges::count(task.buffers, model::Direction::Out,
                                          [](const model::Buffer &one) { return one.direction; });
  for (std::ptrdiff_t i = 0; i < outputs; ++i)
    results += (i ? ", results[" : "results[") + std::to_string(i) + "]";
  results += lists ? "}" : "";
  const std::string called = "::" + namespace_of(function) + "::run(" +
                             (arguments.state.empty()
                                  ? "{" + arguments.tensors + "}"
                                  : "::" + namespace_of(function) + "::with_state({" +
                                        arguments.tensors + "}, *this)") +
                             ")";
  std::string now = "{\n";
  if (arguments.conditions.empty())
    now += "  if (auto results = " + called + "; !results.empty())\n    return " + results + ";\n";
  else
    now += "  if (" + arguments.conditions.substr(0, arguments.conditions.size() - 4) +
           ") {\n    if (auto results = " + called + "; !results.empty())\n      return " +
           results + ";\n  }\n";
  return now + "  return " + as_written + "(" + arguments.all + ");\n}";
}

/// Edits of a module's class outside forward: the declaration of the original method, and a flag of the constructor.
void add_class_edits(const std::string &source, const analysis::CppForward &forward,
                     const std::string &as_written, std::vector<TextEdit> &edits) {
  if (forward.declaration.size() > 0) {
    std::string copy =
        without_specifiers(source.substr(forward.declaration.begin, forward.declaration.size()));
    const std::size_t name = copy.find("forward");
    copy.replace(name, std::string_view("forward").size(), as_written);
    edits.push_back({{forward.declaration.begin, forward.declaration.begin}, copy + ";\n  "});
  }
  if (forward.made_with.empty())
    return;
  const std::string flag = kMadeAsVerified;
  edits.push_back({{forward.constructor_body, forward.constructor_body},
                   "\n    " + flag + " = " + all_same(forward.made_with) + ";"});
  edits.push_back({{forward.class_end, forward.class_end},
                   "\n  bool " + flag + " = false; // by its constructor's arguments\n"});
}

} // namespace

Result<std::string> write_cpp_variant(const model::Task &task, const analysis::Kernel &function,
                                      const model::Plan &plan, const CppVariant &variant) {
  const auto &forward = function.forward;
  if (!task.module || task.module->language != "cpp" || function.body_range.size() == 0)
    return fail("the task of " + function.name + " is no C++ function");
  if (task.module->source.contains("namespace " + namespace_of(function) + " {"))
    return fail(function.name + " is Warpwright's variant already",
                "Undo that first: its own body is in " + (forward ? "forward" : function.name) +
                    "_as_written");
  if (forward && !forward->obstacle.empty())
    return fail("forward of " + function.name + " cannot have another body: " + forward->obstacle);
  const auto steps =
      write_cpp_steps(task, plan, forward ? given_tensors(*task.module) : task.buffers.size());
  if (!steps)
    return std::unexpected(steps.error());
  if (steps->kernels.empty())
    return fail("the plan has no kernel");
  Arguments arguments = arguments_of(function, *task.module);
  if (forward)
    add_state(*forward, task, steps->inputs, arguments);
  const std::string &source = task.module->source;
  const Range range = forward ? forward->range : function.range;
  const Range name_range = forward ? forward->name_range : function.name_range;
  const std::string head = source.substr(range.begin, function.body_range.begin - range.begin);
  const std::string body = source.substr(function.body_range.begin, function.body_range.size());
  const std::size_t name = name_range.begin - range.begin;
  const std::string as_written = source.substr(name_range.begin, name_range.size()) + "_as_written";
  std::string original = head;
  original.replace(name, name_range.size(), as_written);
  const std::string now =
      head + new_body(task, function, arguments, head.substr(0, name), as_written);
  std::vector<TextEdit> edits;
  const std::size_t includes =
      place_of_includes(source, std::min(range.begin, function.range.begin));
  const std::string added = helpers(function, *steps, plan, variant, arguments.state);
  edits.push_back({{includes, includes}, kIncludes + ("\n" + added)});
  edits.push_back({{range.begin, function.body_range.end},
                   (forward ? without_specifiers(original) : original) + body + "\n\n" + now});
  if (forward)
    add_class_edits(source, *forward, as_written, edits);
  return apply_edits(source, edits);
}

Result<std::vector<TextEdit>>
cpp_variant_edits(const std::string &source, const std::string &variant, const std::string &text) {
  std::vector<TextEdit> edits = diff_edits(source, variant);
  if (text == source || edits.empty())
    return edits;
  // The first edit adds the kernels after the #includes. The code around the others must occur in the text once.
  std::vector<TextEdit> moved;
  const auto move = [&](std::size_t first, std::size_t count) -> Result<void> {
    const std::size_t from = edits[first].range.begin, to = edits[first + count - 1].range.end;
    const std::size_t line = from == 0 ? 0 : source.rfind('\n', from - 1) + 1;
    const std::size_t before = line < 2 ? 0 : source.rfind('\n', line - 2) + 1;
    const std::size_t end = std::min(source.find('\n', to), source.size());
    const std::string around = source.substr(before, end - before);
    const std::size_t at = text.find(around);
    if (at == std::string::npos || text.find(around, at + 1) != std::string::npos)
      return fail("the code around the function is not as it was when the variant was verified",
                  "Optimize it again");
    for (std::size_t i = first; i < first + count; ++i) {
      const std::size_t offset = at + edits[i].range.begin - before;
      moved.push_back({{offset, offset + edits[i].range.size()}, edits[i].replacement});
    }
    return {};
  };
  if (auto done = move(0, 1); !done)
    return std::unexpected(done.error());
  if (edits.size() > 1)
    if (auto done = move(1, edits.size() - 1); !done)
      return std::unexpected(done.error());
  return moved;
}

} // namespace warpwright::server
