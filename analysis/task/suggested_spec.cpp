// Renders the warpwright comment of a kernel: known facts, with `?` for facts that the user must
// add.
#include "analysis/task/infer_task.h"

#include "support/words.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

std::string direction_name(model::Direction direction) {
  return direction == model::Direction::In    ? "in"
         : direction == model::Direction::Out ? "out"
                                              : "inout";
}

std::string distribution_name(const model::Distribution &distribution) {
  using Kind = model::Distribution::Kind;
  switch (distribution.kind) {
  case Kind::Normal:
  case Kind::Module: // only in torch tasks, which need no comment
    return "normal";
  case Kind::Quantiles: // a comment cannot say so much
  case Kind::Sorted:
  case Kind::Permutation:
    return "";
  case Kind::Uniform:
    return "uniform";
  case Kind::Positive:
    return "positive";
  case Kind::Zeros:
    return "zeros";
  case Kind::Integers:
    return "integers " + distribution.lower.text() + ".." + distribution.upper.text();
  }
  return "normal";
}

std::string shape(const char *name, const std::array<symbolic::Expression, 3> &values) {
  std::size_t count = 3;
  while (count > 1 && values[count - 1].text() == "1")
    --count;
  std::string text = std::string(name) + "(";
  for (std::size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + values[i].text();
  return text + ")";
}

/// The number as text, or "?" for none.
template <class Key>
std::string or_unknown(const std::map<Key, std::int64_t> &values, const Key &key,
                       std::int64_t unit = 1) {
  const auto found = values.find(key);
  return found == values.end() ? "?" : std::to_string(found->second / unit);
}

std::array<symbolic::Expression, 3> expressions(const std::array<std::int64_t, 3> &values) {
  return {symbolic::Expression(values[0]), symbolic::Expression(values[1]),
          symbolic::Expression(values[2])};
}

} // namespace

std::string suggested_spec(const Kernel &kernel, const InferredTask &task) {
  if (!task.comment.empty())
    return task.comment;
  const auto is_missing = [&](const std::string &name) {
    return std::ranges::any_of(task.missing,
                               [&](const MissingFact &fact) { return fact.name == name; });
  };
  const CapturedLaunch run = task.captured.value_or(CapturedLaunch());
  const auto extent_in_run = [&](const std::string &name, std::optional<model::Dtype> dtype) {
    return dtype ? or_unknown(run.extents_bytes, name,
                              static_cast<std::int64_t>(model::size_bytes(*dtype)))
                 : "?";
  };
  std::vector<std::string> sizes, buffers;
  for (const auto &[name, value] : task.task.sizes)
    sizes.push_back(name + " = " + std::to_string(value));
  for (const Parameter &parameter : kernel.parameters) {
    if (!parameter.is_pointer) {
      if (is_missing(parameter.name))
        sizes.push_back(parameter.name + " = " + or_unknown(run.integers, parameter.name));
      continue;
    }
    const auto known = std::ranges::find(task.task.buffers, parameter.name, &model::Buffer::name);
    if (known == task.task.buffers.end()) {
      const auto dtype = model::dtype_from_c_type(parameter.element_type);
      buffers.push_back(parameter.name + ": " + (parameter.is_written ? "inout " : "in ") +
                        (dtype ? type_name(*dtype) : "?") + "[" +
                        extent_in_run(parameter.name, dtype) + "]");
      continue;
    }
    const bool has_extent = known->extent.text() != "0";
    buffers.push_back(
        known->name + ": " + direction_name(known->direction) + " " + type_name(known->dtype) +
        "[" + (has_extent ? known->extent.text() : extent_in_run(parameter.name, known->dtype)) +
        "] " + distribution_name(known->distribution));
  }
  for (const MissingFact &fact : task.missing)
    if (std::ranges::none_of(
            kernel.parameters,
            [&](const Parameter &parameter) { return parameter.name == fact.name; }) &&
        fact.name != "launch" && fact.name != "grid" && fact.name != "block" &&
        fact.name != "slice" && fact.name != "spec" && !fact.name.contains('.'))
      sizes.push_back(fact.name + " = ?");
  std::string text;
  const std::string prefix = "// warpwright: ";
  if (!sizes.empty())
    text += prefix + joined(sizes, ", ") + "\n";
  if (!buffers.empty())
    text += prefix + joined(buffers, ", ") + "\n";
  if (is_missing("launch") || is_missing("grid") || is_missing("block"))
    text += prefix + "launch " +
            (task.captured ? shape("grid", expressions(run.grid)) + " " +
                                 shape("block", expressions(run.block))
                           : std::string("grid(?) block(?)")) +
            "\n";
  else if (!task.task.reference.steps.empty() && kernel.launches.empty())
    if (const auto *launch = std::get_if<model::LaunchStep>(&task.task.reference.steps.back()))
      text += prefix + "launch " + shape("grid", launch->grid) + " " +
              shape("block", launch->block) + "\n";
  return text;
}

} // namespace warpwright::analysis
