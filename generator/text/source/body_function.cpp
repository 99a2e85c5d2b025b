// Copies a kernel's parameters and body; see body_function.h.
#include "generator/text/source/body_function.h"

#include <clang/AST/DeclTemplate.h>

namespace warpwright::source {

namespace {

/// The template's parameters as arguments: "<T, n>"; empty for a kernel that is not a template.
Result<std::string> template_arguments(const clang::FunctionTemplateDecl *pattern) {
  std::string text;
  if (!pattern)
    return text;
  for (const clang::NamedDecl *parameter : *pattern->getTemplateParameters()) {
    if (parameter->getName().empty() || parameter->isParameterPack())
      return fail("a parameter of the template has no name or is a pack");
    text += (text.empty() ? "<" : ", ") + parameter->getNameAsString();
  }
  return text + ">";
}

/// The offset where a definition can stand in front of the kernel.
std::size_t place_before(const KernelSource &source, std::size_t begin) {
  const std::string_view before = trimmed(source.text().substr(0, begin));
  return before.ends_with("\"C\"") ? before.rfind("extern") : begin;
}

} // namespace

std::string BodyFunction::call(const std::map<std::string, std::string> &constants) const {
  std::string arguments;
  for (const std::string &parameter : parameters) {
    const auto constant = constants.find(parameter);
    const auto type = enumerations.find(parameter);
    arguments += (arguments.empty() ? "" : ", ") +
                 (constant == constants.end()    ? parameter
                  : type == enumerations.end() ? constant->second
                                                 : "static_cast<" + type->second + ">(" + constant->second + ")");
  }
  return name + "(" + arguments + ");";
}

Result<BodyFunction> body_function(const KernelSource &source, const std::string &suffix, const Edits &edits) {
  const clang::FunctionDecl *kernel = source.kernel();
  const clang::FunctionTemplateDecl *pattern = kernel->getDescribedFunctionTemplate();
  const auto whole = source.range_of(kernel->getSourceRange());
  const auto outer = pattern ? source.range_of(pattern->getSourceRange()) : whole;
  const auto name = source.range_of(clang::SourceRange(kernel->getLocation()));
  if (!whole || !outer || !name || kernel->parameters().empty())
    return fail("the kernel's head comes from a macro");
  if (!pattern && kernel->getTemplatedKind() != clang::FunctionDecl::TK_NonTemplate)
    return fail("the kernel is a specialization or a member of a template");
  BodyFunction made;
  const std::string function = fresh_name(kernel->getNameAsString() + "_" + suffix, source.taken_names());
  if (mentions(source.text(), function))
    return fail("the file has a function " + function);
  made.name = function + TRY(template_arguments(pattern));
  for (const clang::ParmVarDecl *parameter : kernel->parameters()) {
    made.parameters.push_back(parameter->getNameAsString());
    if (made.parameters.back().empty())
      return fail("a parameter has no name");
    if (parameter->getType()->isEnumeralType())
      made.enumerations[made.parameters.back()] = source.type_name(parameter->getType().getUnqualifiedType());
  }
  // The text between the kernel's name and its body has the list of parameters.
  const std::string text = TRY(source.edited_text({name->end, source.body_inside().end}, edits));
  const std::size_t place = place_before(source, outer->begin);
  made.definition = {{place, place},
                     (pattern ? source.text_of(Range{outer->begin, whole->begin}) : "") +
                         "static __device__ __forceinline__ void " + function + text + "}\n\n"};
  return made;
}

} // namespace warpwright::source
