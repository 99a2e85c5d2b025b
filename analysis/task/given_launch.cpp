// Launches that the host code does not tell: from a comment, or from a recorded run.
#include "analysis/task/draft_parts.h"
#include "analysis/task/kernel_symbols.h"

#include <algorithm>

namespace warpwright::analysis {

LaunchDraft draft_from_spec(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                            const Spec &spec) {
  LaunchDraft draft;
  draft.callee = &kernel;
  draft.step.kernel = kernel_name(kernel);
  if (!spec.launch) {
    draft.missing.push_back(
        {"launch", "How is " + draft.step.kernel +
                       " launched? The file has no launch of it that could be read."});
  } else {
    if (!spec.launch->kernel.empty())
      draft.step.kernel = spec.launch->kernel;
    draft.step.grid = spec.launch->grid;
    draft.step.block = spec.launch->block;
    draft.step.shared_bytes = spec.launch->shared_bytes;
  }
  for (const clang::ParmVarDecl *parameter : kernel.parameters()) {
    const std::string name = parameter->getNameAsString();
    const clang::QualType type = parameter->getType();
    const bool is_pointer = type->isPointerType();
    const auto element = is_pointer ? std::nullopt : element_of(unit.context(), type);
    if (is_pointer) {
      const auto given = spec.buffers.find(name);
      DraftBuffer buffer{.name = name,
                         .root = {},
                         .dtype = {},
                         .parameters = {name},
                         .extent = {},
                         .fill = {}};
      hold(buffer, unit.context(), type->getPointeeType());
      if (given != spec.buffers.end() && given->second.dtype)
        buffer.dtype = given->second.dtype;
      if (!buffer.dtype)
        draft.missing.push_back({name + ".type", "What does " + name + " hold?"});
      draft.buffers.push_back(std::move(buffer));
      draft.step.arguments.push_back(model::BufferArgument{name, symbolic::Expression()});
    } else if (type->isIntegralOrEnumerationType()) {
      const symbolic::Expression size = make_symbol(name).expression();
      draft.integers[name] = size;
      draft.roots[name] = {name, std::nullopt};
      draft.roots_of["direct"].insert(name);
      draft.step.arguments.push_back(
          model::SizeArgument{size, element ? element->first : model::Dtype::Int32});
    } else if (const auto given = spec.scalars.find(name);
               (element && element->second == 1) || given != spec.scalars.end()) {
      if (given == spec.scalars.end())
        draft.assumptions.push_back(name + " is " + std::to_string(kUnknownScalar) +
                                    ", as nothing says");
      draft.scalars.push_back({name, element ? element->first : model::Dtype::Float32,
                               given == spec.scalars.end() ? kUnknownScalar : given->second});
      draft.step.arguments.push_back(model::ScalarArgument{name});
    } else {
      add_struct(draft, *parameter, [](const StructField &) { return HostMoment::Field{}; });
    }
  }
  return draft;
}

namespace {

/// Replaces the name of a parameter or field by its value.
void give_integer(LaunchDraft &draft, const std::string &name, std::int64_t value) {
  for_each_plain(draft.step.arguments, [&](auto &argument) {
    if constexpr (requires { argument.value.symbols(); })
      if (argument.value.symbols() == std::set{name})
        argument.value = value;
  });
  if (draft.roots.erase(name) > 0)
    draft.integers[name] = value;
}

/// Replaces the memory behind a pointer by nothing.
void make_null(LaunchDraft &draft, const std::string &name) {
  if (std::erase_if(draft.buffers, [&](const DraftBuffer &buffer) { return buffer.name == name; }) == 0)
    return;
  const auto null = [&](auto &argument) {
    const auto *buffer = std::get_if<model::BufferArgument>(&argument);
    if (buffer && buffer->buffer == name)
      argument = kNullPointer;
  };
  for (model::Argument &argument : draft.step.arguments)
    if (auto *whole = std::get_if<model::StructArgument>(&argument))
      for (auto &field : whole->fields)
        null(field.value);
    else
      null(argument);
  std::erase_if(draft.missing, [&](const MissingFact &fact) { return fact.name == name + ".type"; });
}

} // namespace

LaunchDraft draft_from_run(const ParsedUnit &unit, const clang::FunctionDecl &kernel, Spec spec) {
  const CapturedLaunch &run = *spec.captured;
  LaunchSpec launch;
  for (std::size_t axis = 0; axis < run.grid.size(); ++axis) {
    launch.grid[axis] = run.grid[axis];
    launch.block[axis] = run.block[axis];
  }
  launch.shared_bytes = run.shared_bytes;
  spec.launch = launch;
  const clang::FunctionDecl *instance = with_symbol(kernel, run.symbol);
  LaunchDraft draft = draft_from_spec(unit, instance ? *instance : kernel, spec);
  for (const auto &[name, value] : run.integers) {
    give_integer(draft, name, value);
    if (value == 0)
      make_null(draft, name);
  }
  draft.assumptions.push_back("the launch is that of " + run.source + "; other sizes are not checked");
  return draft;
}

} // namespace warpwright::analysis
