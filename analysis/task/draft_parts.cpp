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

std::vector<model::PlainArgument> fields_of(const model::LaunchStep &step) {
  std::vector<model::PlainArgument> fields;
  for (const model::Argument &argument : step.arguments)
    if (const auto *whole = std::get_if<model::StructArgument>(&argument))
      for (const model::StructArgument::Field &field : whole->fields)
        fields.push_back(field.value);
  return fields;
}

bool has_bound_fields(const model::LaunchStep &step) {
  return std::ranges::any_of(fields_of(step), [](const model::PlainArgument &field) {
    return !std::holds_alternative<model::ScalarArgument>(field);
  });
}

namespace {

/// The integer of a field: its value, or a name that needs one.
symbolic::Expression integer_of(LaunchDraft &draft, const std::string &name, std::optional<std::int64_t> known) {
  symbolic::Expression value = known ? symbolic::Expression(*known) : make_symbol(name).expression();
  if (!known) {
    draft.roots[name] = {name, std::nullopt};
    draft.roots_of["arguments"].insert(name);
    draft.roots_of["direct"].insert(name);
  }
  draft.integers[name] = value;
  return value;
}

model::PlainArgument field_value(LaunchDraft &draft, const clang::ASTContext &context, const StructField &field,
                                 const HostMoment::Field &known) {
  if (field.type->isPointerType() && known.integer == 0)
    return kNullPointer;
  if (field.type->isPointerType()) {
    DraftBuffer buffer{.name = field.name,
                       .root = field.name,
                       .dtype = {},
                       .parameters = {field.name},
                       .extent = {},
                       .bytes_in_run = known.bytes,
                       .fill = {},
                       .is_of_field = true,
                       .is_const = field.type->getPointeeType().isConstQualified()};
    if (!hold(buffer, context, field.type->getPointeeType()))
      draft.missing.push_back({field.name + ".type", "What does " + field.name + " hold?"});
    draft.buffers.push_back(std::move(buffer));
    return model::BufferArgument{field.name, {}};
  }
  const auto element = element_of(context, field.type);
  if (field.type->isIntegralOrEnumerationType())
    return model::SizeArgument{integer_of(draft, field.name, known.integer),
                               element ? element->first : model::Dtype::Int32};
  if (!known.number)
    draft.assumptions.push_back(field.name + " is " + std::to_string(kUnknownScalar) +
                                ", as the file does not say");
  draft.scalars.push_back({field.name, element ? element->first : model::Dtype::Float32,
                           known.number.value_or(kUnknownScalar)});
  return model::ScalarArgument{field.name};
}

} // namespace

void add_struct(LaunchDraft &draft, const clang::ParmVarDecl &parameter,
                const std::function<HostMoment::Field(const StructField &)> &known) {
  const clang::ASTContext &context = parameter.getASTContext();
  const auto fields = struct_fields(context, parameter);
  if (!fields) {
    draft.missing.push_back(
        {parameter.getNameAsString(),
         "The parameter " + parameter.getNameAsString() + " has the type " + parameter.getType().getAsString() +
             ", which a task cannot hold: can the kernel take its members as pointers and numbers?"});
    return;
  }
  model::StructArgument whole{.size_bytes = context.getTypeSizeInChars(parameter.getType()).getQuantity(),
                              .fields = {}};
  for (const StructField &field : *fields)
    whole.fields.push_back({field.offset, field_value(draft, context, field, known(field))});
  draft.step.arguments.emplace_back(std::move(whole));
}

} // namespace warpwright::analysis
