// Expressions of the imagined run. Thread: the unit's thread.
#include "analysis/task/host_interpreter.h"

#include <clang/AST/RecursiveASTVisitor.h>

namespace warpwright::analysis {
namespace {

using Kind = RunValue::Kind;

/// The variables that a statement names.
struct Named : clang::RecursiveASTVisitor<Named> {
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      found.insert(variable);
    return true;
  }
  std::set<const clang::VarDecl *> found;
};

std::string class_name(clang::QualType type) {
  const auto *record = type.isNull() || type->isDependentType()
                           ? nullptr
                           : type.getNonReferenceType()->getAsCXXRecordDecl();
  return record ? record->getNameAsString() : std::string();
}

} // namespace

bool is_aggregate(clang::QualType type) { return type->isRecordType() || type->isArrayType(); }

bool is_container(clang::QualType type) {
  static const std::set<std::string> kContainers{"vector", "device_vector", "host_vector"};
  return kContainers.contains(class_name(type));
}

bool is_string(clang::QualType type) {
  const std::string name = class_name(type);
  return name == "basic_string" || name == "string";
}

RunValue HostInterpreter::unknown(const clang::Stmt *expression) {
  Named named;
  named.TraverseStmt(const_cast<clang::Stmt *>(expression));
  for (const clang::VarDecl *variable : named.found)
    if (!variable->getType().isConstQualified())
      memory_.forget(place_of(*variable));
  return {};
}

RunValue HostInterpreter::value(const clang::Expr *expression) { return evaluate(expression); }

RunValue HostInterpreter::variable(const clang::ValueDecl &variable) {
  return load(place_of(variable), variable.getType().getNonReferenceType());
}

HostPlace HostInterpreter::place_of(const clang::ValueDecl &variable) {
  for (std::size_t i = frames_.size(); i-- > 0;) // a lambda sees the frames around it
    if (const auto found = frames_[i].variables.find(&variable);
        found != frames_[i].variables.end())
      return found->second;
  const auto *declared = llvm::dyn_cast<clang::VarDecl>(&variable);
  if (!declared || !declared->hasGlobalStorage())
    return {};
  const clang::VarDecl *definition = links_->definition_of(*declared);
  const clang::Decl *key = definition ? definition : declared->getCanonicalDecl();
  if (const auto found = globals_.find(key); found != globals_.end())
    return found->second;
  const bool is_as_begun = !globals_changed_ || declared->getType().isConstQualified();
  const HostPlace target = memory_.allocate(definition && is_as_begun);
  globals_[key] = target;
  if (is_as_begun && definition && definition->getInit() &&
      !definition->getInit()->isValueDependent())
    initialize(target, definition->getType(), definition->getInit());
  return target;
}

RunValue HostInterpreter::load(const HostPlace &place, clang::QualType type) {
  type = type.getNonReferenceType();
  if (!place.is_known())
    return {};
  if (is_string(type))
    return memory_.read(place);
  if (is_aggregate(type))
    return record_value(place);
  const RunValue found = memory_.read(place);
  if (found.is(Kind::Integer) && type->isRealFloatingType())
    return found.integer == 0 ? floating_value(0) : RunValue{};
  if (found.is(Kind::Floating) && !type->isRealFloatingType())
    return {};
  return found;
}

HostPlace HostInterpreter::element_of(const RunValue &base, const RunValue &index) {
  if (base.is(Kind::Pointer) && !index.is(Kind::Integer) && base.place.is_known())
    memory_.forget(base.place); // which element is written is not known
  return index.is(Kind::Integer) ? base.pointee(index.integer) : HostPlace{};
}

HostPlace HostInterpreter::place(const clang::Expr *expression) {
  if (!expression || !spend())
    return {};
  expression = expression->IgnoreParens();
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression))
    return place_of(*reference->getDecl());
  if (const auto *access = llvm::dyn_cast<clang::MemberExpr>(expression)) {
    const auto *field = llvm::dyn_cast<clang::FieldDecl>(access->getMemberDecl());
    if (!field)
      return place_of(*access->getMemberDecl()); // a static member
    if (field->getParent()->isUnion())
      return {};
    const HostPlace base =
        access->isArrow() ? evaluate(access->getBase()).pointee() : place(access->getBase());
    return base.part("." + field->getNameAsString());
  }
  if (const auto *access = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    const RunValue base = evaluate(access->getBase());
    return element_of(base, evaluate(access->getIdx()));
  }
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression)) {
    if (operation->getOpcode() == clang::UO_Deref)
      return evaluate(operation->getSubExpr()).pointee();
    if (operation->isIncrementDecrementOp()) {
      evaluate(operation);
      return place(operation->getSubExpr());
    }
    return {};
  }
  if (const auto *assignment = llvm::dyn_cast<clang::BinaryOperator>(expression)) {
    evaluate(assignment);
    return assignment->isAssignmentOp() ? place(assignment->getLHS())
           : assignment->isCommaOp()    ? place(assignment->getRHS())
                                        : HostPlace{};
  }
  if (llvm::isa<clang::CXXThisExpr>(expression))
    return frames_.empty() ? HostPlace{} : frames_.back().self;
  if (const auto *conversion = llvm::dyn_cast<clang::CastExpr>(expression))
    switch (conversion->getCastKind()) {
    case clang::CK_NoOp:
    case clang::CK_LValueBitCast:
    case clang::CK_DerivedToBase:
    case clang::CK_UncheckedDerivedToBase:
    case clang::CK_BaseToDerived:
    case clang::CK_ConstructorConversion:
    case clang::CK_UserDefinedConversion:
      return place(conversion->getSubExpr());
    default:
      return {};
    }
  if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression)) {
    const HostPlace target = memory_.allocate();
    initialize(target, temporary->getType(), temporary->getSubExpr());
    return target;
  }
  const RunValue result = evaluate(expression); // a call that returns a reference, a temporary
  return result.is(Kind::Record) ? result.place : HostPlace{};
}

void HostInterpreter::initialize(const HostPlace &target, clang::QualType type,
                                 const clang::Expr *expression) {
  const clang::Expr *inner = expression->IgnoreImplicit();
  if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(inner); made && !is_string(type)) {
    construct(*made, target);
    return;
  }
  if (const auto *items = llvm::dyn_cast<clang::InitListExpr>(inner);
      items && is_aggregate(type) && !is_string(type)) {
    list(*items, target);
    return;
  }
  const RunValue result = evaluate(expression);
  if (is_aggregate(type) && !is_string(type) && !result.is(Kind::Record))
    memory_.forget(target);
  else
    memory_.write(target, converted(result, type));
}

RunValue HostInterpreter::list(const clang::InitListExpr &items, HostPlace target) {
  const clang::InitListExpr *semantic =
      items.isSemanticForm() || !items.getSemanticForm() ? &items : items.getSemanticForm();
  const clang::QualType type = semantic->getType();
  const auto *record = type->getAsCXXRecordDecl();
  if (record && (record->isUnion() || record->getNumBases() > 0))
    return unknown(semantic);
  std::vector<std::pair<std::string, clang::QualType>> parts;
  if (record)
    for (const clang::FieldDecl *field : record->fields())
      parts.emplace_back("." + field->getNameAsString(), field->getType());
  const auto *array = context().getAsConstantArrayType(type);
  const std::size_t count = array ? array->getSize().getZExtValue() : parts.size();
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 1024); ++i) {
    const HostPlace part =
        array ? target.element(static_cast<std::int64_t>(i)) : target.part(parts[i].first);
    const clang::QualType of = array ? array->getElementType() : parts[i].second;
    const clang::Expr *begin = i < semantic->getNumInits()
                                   ? semantic->getInit(static_cast<unsigned>(i))
                               : array && semantic->hasArrayFiller() ? semantic->getArrayFiller()
                                                                     : nullptr;
    if (!begin || llvm::isa<clang::ImplicitValueInitExpr>(begin)) {
      if (!is_aggregate(of))
        memory_.write(part, converted(integer_value(0), of));
    } else if (const auto *fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(begin)) {
      initialize(part, of, fallback->getExpr());
    } else {
      initialize(part, of, begin);
    }
  }
  return record_value(target);
}

std::string HostInterpreter::text_of(const RunValue &value) const {
  return value.is(Kind::Text) ? value.text : std::string();
}

RunValue HostInterpreter::evaluate(const clang::Expr *expression) {
  if (!expression || !spend())
    return {};
  expression = expression->IgnoreParens();
  if (expression->containsErrors() || expression->isTypeDependent())
    return unknown(expression);
  ++depth_;
  RunValue result = [&]() -> RunValue {
    if (const auto *literal = llvm::dyn_cast<clang::IntegerLiteral>(expression))
      return converted(
          integer_value(static_cast<std::int64_t>(literal->getValue().getLimitedValue())),
          literal->getType());
    if (const auto *literal = llvm::dyn_cast<clang::FloatingLiteral>(expression))
      return floating_value(literal->getValueAsApproximateDouble());
    if (const auto *literal = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(expression))
      return integer_value(literal->getValue());
    if (const auto *literal = llvm::dyn_cast<clang::CharacterLiteral>(expression))
      return integer_value(literal->getValue());
    if (const auto *literal = llvm::dyn_cast<clang::StringLiteral>(expression))
      return literal->getCharByteWidth() == 1 ? text_value(literal->getString().str()) : RunValue{};
    if (llvm::isa<clang::CXXNullPtrLiteralExpr>(expression) ||
        llvm::isa<clang::GNUNullExpr>(expression))
      return integer_value(0);
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
      if (const auto *enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(reference->getDecl()))
        return integer_value(enumerator->getInitVal().getExtValue());
      if (const auto *function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl())) {
        RunValue address;
        address.kind = Kind::Function;
        address.function = function;
        return address;
      }
      return load(place(expression), expression->getType());
    }
    if (llvm::isa<clang::MemberExpr>(expression))
      return load(place(expression), expression->getType());
    if (const auto *access = llvm::dyn_cast<clang::ArraySubscriptExpr>(expression)) {
      const RunValue base = evaluate(access->getBase()), index = evaluate(access->getIdx());
      if (!base.is(Kind::Text))
        return load(element_of(base, index), expression->getType());
      if (!index.is(Kind::Integer) || index.integer < 0 || index.integer > std::ssize(base.text))
        return {};
      return integer_value(index.integer == std::ssize(base.text)
                               ? 0
                               : base.text[static_cast<std::size_t>(index.integer)]);
    }
    if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression))
      return operation->isAssignmentOp() ? assign(*operation) : binary(*operation);
    if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression))
      return unary(*operation);
    if (const auto *choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression))
      return choose(*choice);
    if (const auto *conversion = llvm::dyn_cast<clang::CastExpr>(expression))
      return cast(*conversion);
    if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(expression))
      return construct(*made, memory_.allocate());
    if (const auto *items = llvm::dyn_cast<clang::InitListExpr>(expression)) {
      if (!is_aggregate(items->getType()))
        return items->getNumInits() == 1 ? evaluate(items->getInit(0)) : integer_value(0);
      return list(*items, memory_.allocate());
    }
    if (const auto *full = llvm::dyn_cast<clang::FullExpr>(expression))
      return evaluate(full->getSubExpr());
    if (const auto *temporary = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(expression))
      return load(place(temporary), temporary->getType());
    if (const auto *bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(expression))
      return evaluate(bound->getSubExpr());
    if (const auto *fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(expression))
      return evaluate(fallback->getExpr());
    if (const auto *fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(expression))
      return evaluate(fallback->getExpr());
    if (const auto *substituted = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(expression))
      return evaluate(substituted->getReplacement());
    if (llvm::isa<clang::CXXThisExpr>(expression))
      return frames_.empty() ? RunValue{} : pointer_value(frames_.back().self, false);
    if (llvm::isa<clang::ImplicitValueInitExpr>(expression) ||
        llvm::isa<clang::CXXScalarValueInitExpr>(expression))
      return is_aggregate(expression->getType())
                 ? record_value(memory_.allocate(true))
                 : converted(integer_value(0), expression->getType());
    if (const auto *fresh = llvm::dyn_cast<clang::CXXNewExpr>(expression)) {
      const bool is_zeroed = fresh->getInitializer() && fresh->isArray();
      const HostPlace block = memory_.allocate(is_zeroed);
      if (fresh->isArray()) {
        const RunValue count =
            fresh->getArraySize() ? evaluate(*fresh->getArraySize()) : RunValue{};
        if (count.is(Kind::Integer))
          memory_.write(
              block.part("#bytes"),
              integer_value(count.integer *
                            context().getTypeSizeInChars(fresh->getAllocatedType()).getQuantity()));
      } else if (fresh->getInitializer()) {
        initialize(block, fresh->getAllocatedType(), fresh->getInitializer());
      } else if (fresh->getConstructExpr()) {
        construct(*fresh->getConstructExpr(), block);
      }
      return pointer_value(block, fresh->isArray());
    }
    if (llvm::isa<clang::CXXDeleteExpr>(expression))
      return {};
    if (llvm::isa<clang::LambdaExpr>(
            expression)) // its body runs, and captures are looked up, when it is called
      return record_value(memory_.allocate());
    if (const auto *function_call = llvm::dyn_cast<clang::CallExpr>(expression))
      return call(*function_call);
    clang::Expr::EvalResult constant;
    if (!expression->isValueDependent() && expression->EvaluateAsInt(constant, context()))
      return integer_value(constant.Val.getInt().getExtValue());
    return unknown(expression);
  }();
  --depth_;
  return result;
}

} // namespace warpwright::analysis
