// Move constant_arguments(NAME=VALUE, ...): integer arguments of the measured launch become
// constants of the compiler.
//
// The kernel's body becomes a device function. The kernel calls it with the numbers where the
// arguments have these values, and with the arguments elsewhere, so every launch stays right. With
// a number the compiler unrolls short loops, divides by multiplying, and drops branches. The test
// is the same for all threads. Legal for kernels that loop up to such an argument or divide by it;
// not for templates, and not where the values of the launch are not known.
#include "generator/text/moves/move_kind.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

/// Longer loops do not fit into registers or the instruction cache when they are unrolled.
constexpr std::int64_t kLongestLoop = 64;

struct Argument {
  const clang::ParmVarDecl *parameter = nullptr;
  std::string value;
  bool bounds_short_loop = false;
};

bool has_use(const clang::Stmt *root, const clang::ParmVarDecl *parameter) {
  return root && !source::uses_of(root, parameter).empty();
}

bool bounds_loop(const source::KernelSource &source, const clang::ParmVarDecl *parameter) {
  const auto loops = source::find_all<clang::ForStmt>(source.body());
  return std::ranges::any_of(
      loops, [&](const clang::ForStmt *loop) { return has_use(loop->getCond(), parameter); });
}

bool divides(const source::KernelSource &source, const clang::ParmVarDecl *parameter) {
  const auto binaries = source::find_all<clang::BinaryOperator>(source.body());
  return std::ranges::any_of(binaries, [&](const clang::BinaryOperator *binary) {
    return (binary->getOpcode() == clang::BO_Div || binary->getOpcode() == clang::BO_Rem) &&
           binary->getType()->isIntegerType() && has_use(binary->getRHS(), parameter);
  });
}

Result<std::vector<Argument>> constant_candidates(const source::KernelSource &source) {
  if (source.kernel()->getTemplatedKind() != clang::FunctionDecl::TK_NonTemplate)
    return fail("the kernel is a template");
  std::vector<Argument> found;
  for (const clang::ParmVarDecl *parameter : source.kernel()->parameters()) {
    const auto value = source.argument_value(parameter);
    if (!value || !parameter->getType()->isIntegerType() || !source::is_written_once(source, parameter))
      continue;
    const bool bounds = bounds_loop(source, parameter);
    if (bounds || divides(source, parameter))
      found.push_back({parameter, std::to_string(*value), bounds && *value <= kLongestLoop});
  }
  if (found.empty())
    return fail("no integer argument with a known value bounds a loop or divides");
  return found;
}

constexpr std::string_view kDispatch = R"cuda(if ($test)
  $function($constants);
else
  $function($arguments);)cuda";

Result<source::Edits> dispatch_edits(const source::KernelSource &source, const Parameters &choice) {
  const clang::FunctionDecl *kernel = source.kernel();
  const auto whole = source.unit().range_of(kernel->getSourceRange());
  const auto name = source.unit().range_of(clang::SourceRange(kernel->getLocation()));
  if (!whole || !name || kernel->parameters().empty())
    return fail("the kernel's head comes from a macro");
  if (source::trimmed(source.text().substr(0, whole->begin)).ends_with("\"C\""))
    return fail("extern \"C\" stands before the kernel");
  const std::string function =
      source::fresh_name(kernel->getNameAsString() + "_body", source.taken_names());
  if (mentions(source.text(), function))
    return fail("the file has a function " + function);
  std::string test, constants, arguments;
  for (const clang::ParmVarDecl *parameter : kernel->parameters()) {
    const std::string text = parameter->getNameAsString();
    if (text.empty())
      return fail("a parameter has no name");
    const auto constant = choice.find(text);
    const std::string comma = arguments.empty() ? "" : ", ";
    arguments += comma + text;
    constants += comma + (constant == choice.end() ? text : constant->second);
    if (constant != choice.end())
      test += (test.empty() ? "" : " && ") + text + " == " + constant->second;
  }
  // The text between the kernel's name and its body, with the list of parameters.
  const std::string head = source.text_of(Range{name->end, source.body_inside().begin});
  const std::size_t begin = whole->begin;
  return source::Edits{
      {{begin, begin},
       "static __device__ __forceinline__ void " + function + head + source.body_text() + "}\n\n"},
      source.body_edit(source::render(kDispatch,
                                      {{"test", test},
                                       {"function", function},
                                       {"constants", constants},
                                       {"arguments", arguments}},
                                      source.taken_names()))};
}

} // namespace

Result<Offer> offer_constant_arguments(const source::KernelSource &source) {
  const auto candidates = constant_candidates(source);
  if (!candidates)
    return std::unexpected(candidates.error());
  Parameters all, loops;
  for (const Argument &argument : *candidates) {
    all.emplace(argument.parameter->getNameAsString(), argument.value);
    if (argument.bounds_short_loop)
      loops.emplace(argument.parameter->getNameAsString(), argument.value);
  }
  std::vector<Parameters> choices{all};
  if (!loops.empty() && loops != all)
    choices.push_back(loops);
  return Offer{choices, [&source](const Parameters &choice) { return dispatch_edits(source, choice); }};
}

} // namespace warpwright::moves
