#include "server/torch/cpp_writer.h"

#include "server/torch/cpp_steps.h"
#include "server/torch/runtime_text.h"

#include <algorithm>

namespace warpwright::server {
namespace {

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

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string quoted(const std::string &text) {
  return '"' + replaced(replaced(text, "\\", "\\\\"), "\"", "\\\"") + '"';
}

std::string commented(const std::string &text) {
  std::string result = "// ";
  for (const char c : text)
    result += c == '\n' ? std::string("\n// ") : std::string(1, c);
  return result + "\n";
}

std::string namespace_of(const analysis::Kernel &function) { return "warpwright_" + function.name; }

std::string runtime_text(const CppSteps &steps, const model::Plan &plan,
                         const CppVariant &variant) {
  std::string names, shared, options;
  for (std::size_t i = 0; i < steps.kernels.size(); ++i) {
    names += (i ? ", " : "") + quoted(steps.kernels[i]);
    shared += (i ? ", " : "") + std::to_string(steps.shared_bytes[i]);
  }
  const bool says_standard = std::ranges::any_of(
      plan.options, [](const std::string &option) { return option.contains("-std="); });
  if (!says_standard)
    options += ", \"-std=c++17\"";
  for (const std::string &option : plan.options)
    options += ", " + quoted(option);
  std::string text = replaced(kRuntimeCppVariant, "@COUNT@", std::to_string(steps.kernels.size()));
  text = replaced(text, "@NAMES@", names);
  text = replaced(text, "@SHARED@", shared);
  text = replaced(text, "@OPTIONS@", options);
  return replaced(text, "@CAPABILITY@", std::to_string(variant.compute_capability));
}

std::string helpers(const analysis::Kernel &function, const CppSteps &steps,
                    const model::Plan &plan, const CppVariant &variant) {
  return commented("Warpwright's variant " + variant.plan + " of " + function.name + ". " +
                   variant.comment) +
         "namespace " + namespace_of(function) +
         " {\nnamespace {\n\nconst char *const kSource = " + "R\"warpwright(" + plan.source +
         ")warpwright\";\n\n" + runtime_text(steps, plan, variant) +
         "\n/// Nothing where the arguments are not those that the variant was verified for.\n"
         "std::vector<at::Tensor> run(const std::vector<at::Tensor> &inputs) {\n" +
         steps.checks +
         "  const c10::cuda::CUDAGuard guard(inputs[0].device());\n"
         "  const Kernels *kernels = launcher().loaded();\n  if (!kernels)\n    return {};\n"
         "  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();\n"
         "  const auto on_device = inputs[0].options().requires_grad(false);\n" +
         steps.body + "  return {" + steps.outputs + "};\n}\n\n} // namespace\n} // namespace " +
         namespace_of(function) + "\n";
}

/// Arguments of the function as its task has them: tensors in order, conditions on the rest.
struct Arguments {
  std::string tensors, conditions, all;
};

/// What stands between the brackets of "[torch.randn([2, 3]), 4, None]", split at the outer commas.
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

/// Behind the last #include before the function.
std::size_t place_of_includes(const std::string &source, std::size_t before) {
  const std::size_t last = source.rfind("#include", before);
  if (last == std::string::npos)
    return 0;
  const std::size_t end = source.find('\n', last);
  return end == std::string::npos ? 0 : end + 1;
}

} // namespace

Result<std::string> write_cpp_variant(const model::Task &task, const analysis::Kernel &function,
                                      const model::Plan &plan, const CppVariant &variant) {
  if (!task.module || task.module->language != "cpp" || function.body_range.size() == 0)
    return fail("the task of " + function.name + " is no C++ function");
  if (task.module->source.contains("namespace " + namespace_of(function) + " {"))
    return fail(function.name + " is Warpwright's variant already",
                "Undo that first: its own body is in " + function.name + "_as_written");
  const auto steps = write_cpp_steps(task, plan);
  if (!steps)
    return std::unexpected(steps.error());
  if (steps->kernels.empty())
    return fail("the plan has no kernel");
  const std::string &source = task.module->source;
  const Arguments arguments = arguments_of(function, *task.module);
  const std::string head =
      source.substr(function.range.begin, function.body_range.begin - function.range.begin);
  const std::string body = source.substr(function.body_range.begin, function.body_range.size());
  const std::size_t name = function.name_range.begin - function.range.begin;
  const std::string as_written = function.name + "_as_written";
  std::string original = head;
  original.replace(name, function.name.size(), as_written);
  const std::string result_type = head.substr(0, name);
  const bool lists = result_type.contains("vector") || result_type.contains("tuple") ||
                     result_type.contains("pair");
  std::string results = lists ? "{" : "";
  const auto outputs = std::ranges::count(task.buffers, model::Direction::Out,
                                          [](const model::Buffer &one) { return one.direction; });
  for (std::ptrdiff_t i = 0; i < outputs; ++i)
    results += (i ? ", results[" : "results[") + std::to_string(i) + "]";
  results += lists ? "}" : "";
  const std::string called = "::" + namespace_of(function) + "::run({" + arguments.tensors + "})";
  std::string now = head + "{\n";
  if (arguments.conditions.empty())
    now += "  if (auto results = " + called + "; !results.empty())\n    return " + results + ";\n";
  else
    now += "  if (" + arguments.conditions.substr(0, arguments.conditions.size() - 4) +
           ") {\n    if (auto results = " + called + "; !results.empty())\n      return " +
           results + ";\n  }\n";
  now += "  return " + as_written + "(" + arguments.all + ");\n}";
  const std::size_t includes = place_of_includes(source, function.range.begin);
  return apply_edits(
      source,
      {{{includes, includes}, kIncludes + ("\n" + helpers(function, *steps, plan, variant))},
       {{function.range.begin, function.body_range.end}, original + body + "\n\n" + now}});
}

Result<std::vector<TextEdit>>
cpp_variant_edits(const std::string &source, const std::string &variant, const std::string &text) {
  std::vector<TextEdit> edits = diff_edits(source, variant);
  if (text == source || edits.empty())
    return edits;
  // The first puts the kernels behind the #includes; the others are about the function, which must stand in the text as a whole, once.
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
                  "Optimise it again");
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
