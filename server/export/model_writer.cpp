#include "server/export/model_writer.h"

#include "server/export/standalone.h"

#include <nlohmann/json.hpp>

namespace warpwright::server {
namespace {

constexpr std::size_t kMostComments = 5; ///< lines; the package form then has 20 at most

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0;;) {
    const std::size_t end = text.find('\n', start);
    lines.push_back(text.substr(start, end == std::string::npos ? end : end - start));
    if (end == std::string::npos)
      return lines;
    start = end + 1;
  }
}

std::string python_comment(const std::string &text) {
  std::string result;
  std::size_t count = 0;
  for (const std::string &line : lines_of(text))
    if (!line.empty() && ++count <= kMostComments)
      result += "# " + line + "\n";
  return result;
}

std::string plan_file(const model::Plan &plan, const std::string &literal) {
  const nlohmann::json document{
      {"moves", plan.moves}, {"plan", lines_of(literal)}, {"source", lines_of(plan.source)}};
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string package_text(const std::string &model, const ModelText &text) {
  return R"python(try:
    import warpwright
    warpwright.plans  # and no folder of that name
except (ImportError, AttributeError):  # no verified kernels
    import types
    import warnings

    warnings.warn(")python" + model + R"python(: its own forward runs, since the package warpwright-runtime is not installed "
                  "(run: warpwright install-runtime)", RuntimeWarning)
    warpwright = types.SimpleNamespace(plans=lambda path: lambda model: model)
@warpwright.plans(")python" + text.plan_file + "\")\n";
}

} // namespace

Result<ModelAddition> write_addition(const model::Task &task, const model::Graph &graph,
                                     const model::Plan &plan, const ModelText &text) {
  if (!task.module || task.module->language != "python")
    return fail("the task is not a Python module",
                "Only a Python module can be written as a ModelNew");
  if (text.patterns.guards.empty())
    return fail("the runner does not report the arguments of the trace",
                "Use a runner of this version");
  const std::string &model = task.module->model;
  const auto literal = plan_literal(task, graph, plan, text.patterns, text.device);
  if (!literal)
    return std::unexpected(literal.error());
  ModelAddition addition;
  addition.subclass = "class " + text.class_name + "(" + model + "):\n    pass\n";
  std::string comment = text.comment;
  if (text.standalone) {
    const auto alone = standalone_text(task, plan, text.patterns, *literal,
                                       python_comment(lines_of(comment).front()), "_warpwright_" + model);
    if (alone) {
      addition.decorator = *alone;
      return addition;
    }
    comment = "It cannot stand alone: " + alone.error().message + ".\n" + comment;
  }
  addition.decorator = python_comment(comment) + package_text(model, text);
  addition.plan_file = plan_file(plan, *literal);
  return addition;
}

std::string whole_file(const std::string &source, const ModelAddition &addition) {
  return source + (source.ends_with('\n') ? "" : "\n") + "\n\n" + addition.decorator + addition.subclass;
}

} // namespace warpwright::server
