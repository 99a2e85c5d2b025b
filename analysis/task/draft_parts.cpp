// Parts of drafts: structs by value, memory of structs, names of kernels.
#include "analysis/task/draft_parts.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/PrettyPrinter.h>

#include <algorithm>

namespace warpwright::analysis {

std::string kernel_name(const clang::FunctionDecl &callee) {
  std::string name = callee.getQualifiedNameAsString();
  for (std::size_t at = 0; (at = name.find("(anonymous namespace)::")) != std::string::npos;)
    name.erase(at, std::string_view("(anonymous namespace)::").size());
  if (const clang::TemplateArgumentList *arguments = callee.getTemplateSpecializationArgs()) {
    llvm::raw_string_ostream stream(name);
    clang::PrintingPolicy policy(callee.getASTContext().getLangOpts());
    policy.SuppressTagKeyword = true;
    clang::printTemplateArgumentList(stream, arguments->asArray(), policy);
  }
  return name;
}

std::string no_struct(const clang::ParmVarDecl &parameter) {
  return "The parameter " + parameter.getNameAsString() + " has the type " +
         parameter.getType().getAsString() +
         ", which a task cannot hold: can the kernel take its members as pointers and numbers?";
}

bool hold(DraftBuffer &buffer, const clang::ASTContext &context, clang::QualType pointee) {
  if (const auto element = element_of(context, pointee)) {
    buffer.dtype = element->first;
    buffer.lanes = element->second;
    return true;
  }
  buffer.lane_dtypes = struct_lanes(context, pointee);
  if (buffer.lane_dtypes.empty())
    return false;
  const auto floating = std::ranges::find_if(buffer.lane_dtypes, model::is_floating);
  buffer.dtype = floating == buffer.lane_dtypes.end() ? buffer.lane_dtypes.front() : *floating;
  buffer.lanes = static_cast<int>(buffer.lane_dtypes.size());
  return true;
}

bool has_bound_fields(const model::LaunchStep &step) {
  return std::ranges::any_of(step.arguments, [](const model::Argument &argument) {
    const auto *whole = std::get_if<model::StructArgument>(&argument);
    return whole && std::ranges::any_of(whole->fields, [](const auto &field) {
      return !std::holds_alternative<model::ScalarArgument>(field.value);
    });
  });
}

void FieldDrafter::add(model::StructArgument &whole, const StructField &field, const HostMoment::Field &known) {
  const auto put = [&](auto value) { whole.fields.push_back({field.offset, std::move(value)}); };
  const auto element = field.type->isPointerType() ? std::nullopt : element_of(context_, field.type);
  if (field.type->isPointerType() && known.integer == 0) {
    put(kNullPointer);
  } else if (field.type->isPointerType()) {
    DraftBuffer buffer{.name = field.name,
                       .root = field.name,
                       .dtype = {},
                       .parameters = {field.name},
                       .extent = {},
                       .bytes_in_run = known.bytes,
                       .fill = {},
                       .is_of_field = true,
                       .is_const = field.type->getPointeeType().isConstQualified()};
    if (!hold(buffer, context_, field.type->getPointeeType()))
      draft_.missing.push_back({field.name + ".type", "What does " + field.name + " hold?"});
    draft_.buffers.push_back(std::move(buffer));
    put(model::BufferArgument{field.name, {}});
  } else if (field.type->isIntegralOrEnumerationType()) {
    put(model::SizeArgument{integer(field.name, known.integer),
                            element ? element->first : model::Dtype::Int32});
  } else {
    if (!known.number)
      draft_.assumptions.push_back(field.name + " is " + std::to_string(kUnknownScalar) +
                                   ", as the file does not say");
    draft_.scalars.push_back({field.name, element ? element->first : model::Dtype::Float32,
                              known.number.value_or(kUnknownScalar)});
    put(model::ScalarArgument{field.name});
  }
}

symbolic::Expression FieldDrafter::integer(const std::string &name, std::optional<std::int64_t> known) {
  symbolic::Expression value = known ? symbolic::Expression(*known) : make_symbol(name).expression();
  if (!known) {
    draft_.roots[name] = {name, std::nullopt};
    draft_.roots_of["arguments"].insert(name);
    draft_.roots_of["direct"].insert(name);
  }
  draft_.integers[name] = value;
  return value;
}

} // namespace warpwright::analysis
