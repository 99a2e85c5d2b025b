// JSON of analysis facts: all members of use to tools, named like the members of the facts.
#include "server/cli/analyze_json.h"

#include "support/model/json.h"

namespace warpwright::cli {
namespace {

using Json = nlohmann::json;

template <class T>
Json or_null(const std::optional<T> &value) {
  return value ? Json(*value) : Json(nullptr);
}

template <class T, class Convert>
Json array_of(const std::vector<T> &values, Convert convert) {
  Json array = Json::array();
  for (const T &value : values)
    array.push_back(convert(value));
  return array;
}

Json to_json(const analysis::Access &access) {
  return {{"buffer", access.buffer},
          {"space", name(access.space)},
          {"pattern", name(access.pattern)},
          {"write", access.is_write},
          {"atomic", access.is_atomic},
          {"index", access.index.text},
          {"affine", access.index.affine},
          {"stride", or_null(access.stride)},
          {"symbolic_stride", access.index.symbolic_stride},
          {"element_type", access.element_type},
          {"element_bytes", access.element_bytes},
          {"bank_conflict_ways", access.bank_conflict_ways},
          {"loop_depth", access.loop_depth},
          {"line", access.line},
          {"column", access.column}};
}

Json to_json(const analysis::Parameter &parameter) {
  return {{"name", parameter.name},
          {"type", parameter.type},
          {"element_type", parameter.element_type},
          {"pointer", parameter.is_pointer},
          {"const", parameter.is_const},
          {"restrict", parameter.is_restrict},
          {"read", parameter.is_read},
          {"written", parameter.is_written}};
}

Json to_json(const analysis::SharedArray &array) {
  return {{"name", array.name},
          {"element_type", array.element_type},
          {"extent", or_null(array.extent)},
          {"dynamic", array.is_dynamic},
          {"line", array.line}};
}

Json to_json(const analysis::Barrier &barrier) {
  return {{"kind", barrier.kind}, {"divergent", barrier.is_divergent}, {"line", barrier.line}};
}

Json to_json(const analysis::Launch &launch) {
  return {{"kernel", launch.kernel},       {"function", launch.enclosing_function},
          {"grid", launch.grid},           {"block", launch.block},
          {"shared", launch.shared},       {"stream", launch.stream},
          {"arguments", launch.arguments}, {"template_arguments", launch.template_arguments},
          {"line", launch.line},           {"column", launch.column}};
}

Json to_json(const analysis::InferredTask &task) {
  Json missing = array_of(task.missing, [](const analysis::MissingFact &fact) {
    return Json{{"name", fact.name}, {"question", fact.question}};
  });
  Json json = {
      {"inferred", task.inferred}, {"missing", missing}, {"assumptions", task.assumptions}};
  if (task.inferred) {
    json["task"] = model::to_json(task.task);
    json["hash"] = model::hash(task.task);
  }
  return json;
}

Json to_json(const analysis::Kernel &kernel, const analysis::FileFacts &facts) {
  Json launches = Json::array();
  for (std::size_t index : kernel.launches)
    launches.push_back(to_json(facts.launches[index]));
  Json json = {
      {"name", kernel.name},
      {"qualified_name", kernel.qualified_name},
      {"line", kernel.line},
      {"template", kernel.is_template},
      {"parameters", array_of(kernel.parameters, [](const auto &value) { return to_json(value); })},
      {"shared_arrays",
       array_of(kernel.shared_arrays, [](const auto &value) { return to_json(value); })},
      {"barriers", array_of(kernel.barriers, [](const auto &value) { return to_json(value); })},
      {"accesses", array_of(kernel.accesses, [](const auto &value) { return to_json(value); })},
      {"launches", launches},
      {"warp_operations", kernel.uses_warp_operations},
      {"atomics", kernel.uses_atomics},
      {"divergence", kernel.has_divergence},
      {"arithmetic_intensity", or_null(kernel.arithmetic_intensity)},
      {"pattern", or_null(kernel.pattern)},
      {"task", to_json(kernel.task)},
      {"slice", kernel.slice}};
  if (!kernel.slice_error.empty())
    json["slice_error"] = kernel.slice_error;
  if (const auto &time = kernel.captured)
    json["run"] = {{"source", time->source}, {"runs", time->runs},
                   {"total_ns", time->total_ns}, {"share", time->share},
                   {"launch_ns", or_null(time->launch_ns)}};
  return json;
}

Json to_json(const analysis::Diagnostic &diagnostic) {
  Json fixes = array_of(diagnostic.fixes, [](const analysis::QuickFix &fix) {
    Json edits = array_of(fix.edits, [](const TextEdit &edit) {
      return Json{
          {"begin", edit.range.begin}, {"end", edit.range.end}, {"replacement", edit.replacement}};
    });
    return Json{{"title", fix.title}, {"edits", edits}};
  });
  return {{"rule", diagnostic.rule},       {"severity", name(diagnostic.severity)},
          {"message", diagnostic.message}, {"line", diagnostic.line},
          {"column", diagnostic.column},   {"fixes", fixes}};
}

} // namespace

std::string name(analysis::MemorySpace space) {
  switch (space) {
  case analysis::MemorySpace::Global:
    return "global";
  case analysis::MemorySpace::Shared:
    return "shared";
  case analysis::MemorySpace::Local:
    return "local";
  case analysis::MemorySpace::Constant:
    return "constant";
  }
  return "unknown";
}

std::string name(analysis::AccessPattern pattern) {
  switch (pattern) {
  case analysis::AccessPattern::Coalesced:
    return "coalesced";
  case analysis::AccessPattern::Broadcast:
    return "broadcast";
  case analysis::AccessPattern::Strided:
    return "strided";
  case analysis::AccessPattern::Irregular:
    return "irregular";
  }
  return "unknown";
}

std::string name(analysis::Severity severity) {
  switch (severity) {
  case analysis::Severity::Error:
    return "error";
  case analysis::Severity::Warning:
    return "warning";
  case analysis::Severity::Information:
    return "information";
  case analysis::Severity::Hint:
    return "hint";
  }
  return "unknown";
}

std::string name(analysis::Pass pass) {
  switch (pass) {
  case analysis::Pass::Scan:
    return "scan";
  case analysis::Pass::Stub:
    return "stub";
  case analysis::Pass::Full:
    return "full";
  }
  return "unknown";
}

Json to_json(const analysis::FileFacts &facts) {
  Json kernels = Json::array();
  for (const analysis::Kernel &kernel : facts.kernels)
    kernels.push_back(to_json(kernel, facts));
  return {{"path", facts.path},
          {"pass", name(facts.pass)},
          {"kernels", kernels},
          {"diagnostics",
           array_of(facts.diagnostics, [](const auto &value) { return to_json(value); })}};
}

} // namespace warpwright::cli
