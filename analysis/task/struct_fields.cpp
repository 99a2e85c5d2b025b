#include "analysis/task/struct_fields.h"

#include "support/model/task.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>
#include <clang/AST/PrettyPrinter.h>
#include <clang/AST/RecordLayout.h>

namespace warpwright::analysis {
namespace {

/// True for a typedef of an unknown type. The parser takes unknown types for int.
bool names_unknown(clang::QualType type) {
  while (const auto *alias = type->getAs<clang::TypedefType>()) {
    if (alias->getDecl()->isInvalidDecl())
      return true;
    type = alias->desugar();
  }
  return false;
}

constexpr std::size_t kMostFields = 256;

std::string field_name(const std::string &parameter, const std::string &path) {
  std::string name = parameter;
  for (const char letter : path)
    if (letter != ']')
      name += letter == '.' || letter == '[' ? '_' : letter;
  return name;
}

class Collector {
public:
  Collector(const clang::ASTContext &context, const std::string &parameter)
      : context_(context), parameter_(parameter) {}

  bool add(clang::QualType type, const std::string &path, std::int64_t offset) {
    if (const clang::ConstantArrayType *array = context_.getAsConstantArrayType(type))
      return add_elements(*array, path, offset);
    if (const clang::RecordDecl *record = type->getAsRecordDecl();
        record && !model::dtype_from_c_type(record->getNameAsString())) // __half is a number
      return record->getDefinition() && add_record(*record->getDefinition(), path, offset);
    if (!type->isRecordType() && !type->isArithmeticType() && !type->isEnumeralType() && !type->isPointerType())
      return false;
    fields.push_back({field_name(parameter_, path), path, type, offset});
    return fields.size() <= kMostFields;
  }

  std::vector<StructField> fields;

private:
  bool add_elements(const clang::ConstantArrayType &array, const std::string &path,
                    std::int64_t offset) {
    const std::uint64_t count = array.getSize().getLimitedValue(kMostFields + 1);
    const std::int64_t step = context_.getTypeSizeInChars(array.getElementType()).getQuantity();
    for (std::uint64_t i = 0; i < count; ++i)
      if (!add(array.getElementType(), path + "[" + std::to_string(i) + "]",
               offset + static_cast<std::int64_t>(i) * step))
        return false;
    return true;
  }

  bool add_record(const clang::RecordDecl &record, const std::string &path, std::int64_t offset) {
    const auto *with_bases = llvm::dyn_cast<clang::CXXRecordDecl>(&record);
    if (record.isUnion() || record.isInvalidDecl() || record.isDependentType() ||
        (with_bases && (with_bases->isPolymorphic() || with_bases->getNumVBases() > 0)))
      return false;
    const clang::ASTRecordLayout &layout = context_.getASTRecordLayout(&record);
    if (with_bases)
      for (const clang::CXXBaseSpecifier &base : with_bases->bases()) {
        const clang::CXXRecordDecl *definition = base.getType()->getAsCXXRecordDecl();
        if (!definition ||
            !add_record(*definition, path, offset + layout.getBaseClassOffset(definition).getQuantity()))
          return false;
      }
    for (const clang::FieldDecl *field : record.fields()) {
      const std::int64_t at =
          offset + context_.toCharUnitsFromBits(static_cast<std::int64_t>(
                                                    layout.getFieldOffset(field->getFieldIndex())))
                       .getQuantity();
      if (field->isBitField() || !add(field->getType(), path + "." + field->getNameAsString(), at))
        return false;
    }
    return true;
  }

  const clang::ASTContext &context_;
  const std::string &parameter_;
};

} // namespace

std::optional<std::pair<model::Dtype, int>> element_of(const clang::ASTContext &context,
                                                       clang::QualType type) {
  if (names_unknown(type))
    return std::nullopt;
  type = type.getCanonicalType().getUnqualifiedType();
  if (type->isDependentType())
    return std::nullopt;
  if (const auto *array = context.getAsConstantArrayType(type)) { // float (*rows)[64]
    const auto element = element_of(context, array->getElementType());
    const std::uint64_t count = array->getSize().getLimitedValue(1 << 24);
    return element && count > 0 && count * element->second < (1 << 24)
               ? std::optional(std::pair(element->first, static_cast<int>(count) * element->second))
               : std::nullopt;
  }
  if (const auto *enumeration = type->getAs<clang::EnumType>())
    type = enumeration->getDecl()->getIntegerType().isNull()
               ? context.IntTy
               : enumeration->getDecl()->getIntegerType();
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressTagKeyword = policy.Bool = true;
  if (const auto dtype = model::dtype_from_c_type(type.getAsString(policy)))
    return std::pair(*dtype, 1);
  const clang::RecordDecl *record = type->getAsRecordDecl();
  record = record ? record->getDefinition() : nullptr;
  if (!record || record->isUnion())
    return std::nullopt;
  const std::string name = record->getNameAsString();
  if (name == "__half2" || name == "__nv_bfloat162")
    return std::pair(name == "__half2" ? model::Dtype::Float16 : model::Dtype::BFloat16, 2);
  std::optional<model::Dtype> dtype;
  int count = 0;
  for (const clang::FieldDecl *field : record->fields()) {
    std::int64_t repeat = 1;
    clang::QualType member = field->getType();
    while (const auto *array = context.getAsConstantArrayType(member)) {
      repeat *= static_cast<std::int64_t>(array->getSize().getZExtValue());
      member = array->getElementType();
    }
    const auto element = element_of(context, member);
    if (!element || (dtype && *dtype != element->first))
      return std::nullopt;
    dtype = element->first;
    count += static_cast<int>(repeat) * element->second;
  }
  if (!dtype || static_cast<std::size_t>(context.getTypeSizeInChars(type).getQuantity()) !=
                    count * model::size_bytes(*dtype))
    return std::nullopt;
  return std::pair(*dtype, count);
}

std::optional<std::vector<StructField>> struct_fields(const clang::ASTContext &context,
                                                      const clang::ParmVarDecl &parameter) {
  const clang::QualType type = parameter.getType();
  if (parameter.isInvalidDecl() || type->isDependentType() || !type->isRecordType() ||
      type->isIncompleteType())
    return std::nullopt;
  const std::string name = parameter.getNameAsString();
  Collector collector(context, name);
  if (!collector.add(type, "", 0))
    return std::nullopt;
  return std::move(collector.fields);
}

std::vector<model::Dtype> struct_lanes(const clang::ASTContext &context, clang::QualType type) {
  const std::string no_name;
  Collector collector(context, no_name);
  if (!type->isRecordType() || type->isIncompleteType() || !collector.add(type, "", 0) ||
      collector.fields.empty() || collector.fields.size() > model::Buffer::kMostLanes)
    return {};
  std::vector<model::Dtype> lanes;
  for (const StructField &field : collector.fields) {
    const auto element = field.type->isPointerType() ? std::nullopt : element_of(context, field.type);
    if (!element || model::size_bytes(element->first) != model::size_bytes(lanes.empty() ? element->first : lanes[0]))
      return {};
    lanes.push_back(element->first);
  }
  const auto bytes = static_cast<std::size_t>(context.getTypeSizeInChars(type).getQuantity());
  return bytes == lanes.size() * model::size_bytes(lanes[0]) ? lanes : std::vector<model::Dtype>();
}

std::string struct_field_name(const clang::Expr *expression) {
  std::string path;
  for (;;) {
    expression = expression->IgnoreParenImpCasts();
    if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(expression); member && !member->isArrow()) {
      path = "." + member->getMemberDecl()->getNameAsString() + path;
      expression = member->getBase();
    } else if (const auto *element = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
      const auto *index = llvm::dyn_cast<clang::IntegerLiteral>(element->getIdx()->IgnoreParenImpCasts());
      expression = element->getBase()->IgnoreParenImpCasts();
      if (!index || !expression->getType()->isArrayType())
        return {};
      path = "[" + std::to_string(index->getValue().getLimitedValue()) + "]" + path;
    } else {
      const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression);
      const auto *parameter = reference ? llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl()) : nullptr;
      return parameter && parameter->getType()->isRecordType() ? field_name(parameter->getNameAsString(), path) : "";
    }
  }
}

} // namespace warpwright::analysis
