// Operators, conversions and assignments of the imagined run. Thread: the unit's thread.
#include "analysis/task/host_interpreter.h"

#include <cmath>

namespace warpwright::analysis {
namespace {

using Kind = RunValue::Kind;

} // namespace

std::optional<bool> HostInterpreter::truth(const RunValue &value) const {
  switch (value.kind) {
  case Kind::Integer:
    return value.integer != 0;
  case Kind::Floating:
    return value.floating != 0;
  case Kind::Text:
  case Kind::Pointer:
  case Kind::Function:
    return true;
  default:
    return std::nullopt;
  }
}

RunValue HostInterpreter::converted(RunValue value, clang::QualType type) const {
  if (type.isNull() || type->isDependentType() || value.is(Kind::Record))
    return value;
  if (type->isBooleanType()) {
    const auto known = truth(value);
    return known ? integer_value(*known) : RunValue{};
  }
  if (type->isIntegralOrEnumerationType()) {
    if (value.is(Kind::Floating))
      value = std::abs(value.floating) < 9e18
                  ? integer_value(static_cast<std::int64_t>(value.floating))
                  : RunValue{};
    if (!value.is(Kind::Integer))
      return value.is(Kind::Unknown) ? value : RunValue{};
    const auto bits = context().getTypeSize(type);
    if (bits < 64) {
      const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
      std::uint64_t kept = static_cast<std::uint64_t>(value.integer) & mask;
      if (type->isSignedIntegerOrEnumerationType() && (kept >> (bits - 1)) != 0)
        kept |= ~mask;
      value.integer = static_cast<std::int64_t>(kept);
    }
    return value;
  }
  if (type->isRealFloatingType()) {
    const auto number = value.number();
    if (!number)
      return {};
    return floating_value(context().getTypeSize(type) == 32
                              ? static_cast<double>(static_cast<float>(*number))
                              : *number);
  }
  return value;
}

RunValue HostInterpreter::binary(const clang::BinaryOperator &operation) {
  if (operation.getOpcode() == clang::BO_Comma) {
    evaluate(operation.getLHS());
    return evaluate(operation.getRHS());
  }
  const RunValue left = evaluate(operation.getLHS());
  if (operation.isLogicalOp()) {
    const bool ends = operation.getOpcode() == clang::BO_LOr; // the value that needs no right side
    const auto known = truth(left);
    if (known == ends)
      return integer_value(ends);
    if (known) {
      const auto second = truth(evaluate(operation.getRHS()));
      return second ? integer_value(*second) : RunValue{};
    }
    std::optional<bool> second;
    undecided({[&] {
                 second = truth(evaluate(operation.getRHS()));
                 return Flow::Next;
               },
               [] { return Flow::Next; }});
    return second == ends ? integer_value(ends) : RunValue{};
  }
  return arithmetic(operation.getOpcode(), left, evaluate(operation.getRHS()), operation.getType());
}

RunValue HostInterpreter::arithmetic(clang::BinaryOperatorKind operation, const RunValue &left,
                                     const RunValue &right, clang::QualType type) const {
  using namespace clang;
  if (left.is(Kind::Pointer) && right.is(Kind::Integer) &&
      (operation == BO_Add || operation == BO_Sub)) {
    RunValue moved = left;
    moved.integer += operation == BO_Add ? right.integer : -right.integer;
    return left.is_element ? moved : RunValue{};
  }
  if (left.is(Kind::Integer) && right.is(Kind::Pointer) && operation == BO_Add)
    return arithmetic(operation, right, left, type);
  if (left.is(Kind::Text) && right.is(Kind::Integer) && operation == BO_Add)
    return right.integer >= 0 && right.integer <= std::ssize(left.text)
               ? text_value(left.text.substr(static_cast<std::size_t>(right.integer)))
               : RunValue{};
  if (operation == BO_EQ || operation == BO_NE) { // with a null pointer
    const auto is_null = [](const RunValue &one) {
      return one.is(Kind::Integer) && one.integer == 0;
    };
    const auto is_address = [](const RunValue &one) {
      return one.is(Kind::Pointer) || one.is(Kind::Text) || one.is(Kind::Function);
    };
    if ((is_null(left) && is_address(right)) || (is_address(left) && is_null(right)))
      return integer_value(operation == BO_NE);
    if (left.is(Kind::Pointer) && right.is(Kind::Pointer) && left.place == right.place &&
        left.is_element == right.is_element)
      return integer_value((left.integer == right.integer) == (operation == BO_EQ));
  }
  if (left.is(Kind::Pointer) && right.is(Kind::Pointer) && left.place == right.place &&
      left.is_element && right.is_element) {
    if (operation == BO_Sub)
      return integer_value(left.integer - right.integer);
    if (operation == BO_LT || operation == BO_GT || operation == BO_LE || operation == BO_GE)
      return arithmetic(operation, integer_value(left.integer), integer_value(right.integer), type);
  }
  const auto a = left.number(), b = right.number();
  if (!a || !b)
    return {};
  if (left.is(Kind::Floating) || right.is(Kind::Floating)) {
    switch (operation) {
    case BO_Add:
      return converted(floating_value(*a + *b), type);
    case BO_Sub:
      return converted(floating_value(*a - *b), type);
    case BO_Mul:
      return converted(floating_value(*a * *b), type);
    case BO_Div:
      return *b == 0 ? RunValue{} : converted(floating_value(*a / *b), type);
    case BO_LT:
      return integer_value(*a < *b);
    case BO_GT:
      return integer_value(*a > *b);
    case BO_LE:
      return integer_value(*a <= *b);
    case BO_GE:
      return integer_value(*a >= *b);
    case BO_EQ:
      return integer_value(*a == *b);
    case BO_NE:
      return integer_value(*a != *b);
    default:
      return {};
    }
  }
  const std::int64_t x = left.integer, y = right.integer;
  const bool is_unsigned = type->isUnsignedIntegerType() && context().getTypeSize(type) == 64;
  const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
  const auto wrapped = [&](std::uint64_t value) {
    return converted(integer_value(static_cast<std::int64_t>(value)), type);
  };
  switch (operation) {
  case BO_Add:
    return wrapped(ux + uy);
  case BO_Sub:
    return wrapped(ux - uy);
  case BO_Mul:
    return wrapped(ux * uy);
  case BO_Div:
    if (y == 0 || (x == INT64_MIN && y == -1))
      return {};
    return is_unsigned ? wrapped(ux / uy) : wrapped(static_cast<std::uint64_t>(x / y));
  case BO_Rem:
    if (y == 0 || (x == INT64_MIN && y == -1))
      return {};
    return is_unsigned ? wrapped(ux % uy) : wrapped(static_cast<std::uint64_t>(x % y));
  case BO_Shl:
    return y < 0 || y > 63 ? RunValue{} : wrapped(ux << uy);
  case BO_Shr:
    if (y < 0 || y > 63)
      return {};
    return is_unsigned ? wrapped(ux >> uy) : wrapped(static_cast<std::uint64_t>(x >> y));
  case BO_And:
    return wrapped(ux & uy);
  case BO_Or:
    return wrapped(ux | uy);
  case BO_Xor:
    return wrapped(ux ^ uy);
  case BO_LT:
    return integer_value(x < y);
  case BO_GT:
    return integer_value(x > y);
  case BO_LE:
    return integer_value(x <= y);
  case BO_GE:
    return integer_value(x >= y);
  case BO_EQ:
    return integer_value(x == y);
  case BO_NE:
    return integer_value(x != y);
  default:
    return {};
  }
}

RunValue HostInterpreter::assign(const clang::BinaryOperator &operation) {
  RunValue right = evaluate(operation.getRHS());
  const clang::QualType type = operation.getLHS()->getType();
  const HostPlace target = place(operation.getLHS());
  if (const auto *compound = llvm::dyn_cast<clang::CompoundAssignOperator>(&operation)) {
    const clang::QualType in = compound->getComputationResultType();
    right = arithmetic(clang::BinaryOperator::getOpForCompoundAssignment(operation.getOpcode()),
                       converted(load(target, type), compound->getComputationLHSType()), right, in);
  }
  right = converted(right, type);
  if (is_aggregate(type) && !right.is(Kind::Record))
    memory_.forget(target);
  else
    memory_.write(target, right);
  return operation.isLValue() && is_aggregate(type) ? record_value(target) : right;
}

RunValue HostInterpreter::unary(const clang::UnaryOperator &operation) {
  const clang::Expr *operand = operation.getSubExpr();
  const clang::QualType type = operation.getType();
  if (operation.isIncrementDecrementOp()) {
    const HostPlace target = place(operand);
    const RunValue before = load(target, operand->getType());
    const RunValue after =
        converted(arithmetic(operation.isIncrementOp() ? clang::BO_Add : clang::BO_Sub, before,
                             integer_value(1), operand->getType()),
                  operand->getType());
    memory_.write(target, after);
    return operation.isPrefix() ? after : before;
  }
  if (operation.getOpcode() == clang::UO_AddrOf) {
    operand = operand->IgnoreParens();
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(operand);
        reference && llvm::isa<clang::FunctionDecl>(reference->getDecl()))
      return evaluate(operand);
    if (const auto *access = llvm::dyn_cast<clang::ArraySubscriptExpr>(operand)) {
      const RunValue index = evaluate(access->getIdx());
      return index.is(Kind::Integer)
                 ? arithmetic(clang::BO_Add, evaluate(access->getBase()), index, type)
                 : RunValue{};
    }
    return pointer_value(place(operand), false);
  }
  const RunValue value = evaluate(operand);
  switch (operation.getOpcode()) {
  case clang::UO_Deref:
    if (value.is(Kind::Text))
      return integer_value(value.text.empty() ? 0 : value.text[0]);
    return value.is(Kind::Function) ? value : load(value.pointee(), type);
  case clang::UO_Plus:
    return value;
  case clang::UO_Minus:
    return arithmetic(clang::BO_Sub, integer_value(0), value, type);
  case clang::UO_LNot: {
    const auto known = truth(value);
    return known ? integer_value(!*known) : RunValue{};
  }
  case clang::UO_Not:
    return value.is(Kind::Integer) ? converted(integer_value(~value.integer), type) : RunValue{};
  case clang::UO_Extension:
    return value;
  default:
    return {};
  }
}

RunValue HostInterpreter::choose(const clang::AbstractConditionalOperator &operation) {
  if (const auto known = truth(evaluate(operation.getCond())))
    return evaluate(*known ? operation.getTrueExpr() : operation.getFalseExpr());
  RunValue yes, no;
  undecided({[&] {
               yes = evaluate(operation.getTrueExpr());
               return Flow::Next;
             },
             [&] {
               no = evaluate(operation.getFalseExpr());
               return Flow::Next;
             }});
  return yes == no && !yes.is(Kind::Record) ? yes : RunValue{};
}

RunValue HostInterpreter::cast(const clang::CastExpr &cast) {
  const clang::Expr *operand = cast.getSubExpr();
  switch (cast.getCastKind()) {
  case clang::CK_LValueToRValue: {
    const RunValue value = evaluate(operand);
    return value.is(Kind::Record) && !is_aggregate(cast.getType())
               ? load(value.place, cast.getType())
               : value;
  }
  case clang::CK_ArrayToPointerDecay: {
    if (const RunValue literal = llvm::isa<clang::StringLiteral>(operand->IgnoreParens())
                                     ? evaluate(operand)
                                     : RunValue{};
        literal.is(Kind::Text))
      return literal;
    return pointer_value(place(operand), true);
  }
  case clang::CK_NullToPointer:
    return integer_value(0);
  case clang::CK_ToVoid:
    evaluate(operand);
    return {};
  case clang::CK_BitCast: {
    RunValue value = evaluate(operand);
    const clang::QualType from = operand->getType()->getPointeeType(),
                          to = cast.getType()->getPointeeType();
    if (value.is(Kind::Pointer) && !from.isNull() && !to.isNull() && !from->isVoidType() &&
        !to->isVoidType() && !from->isIncompleteType() && !to->isIncompleteType() &&
        context().getTypeSize(from) != context().getTypeSize(to)) {
      memory_.escape(value.place); // its cells are read or written in another way
      memory_.forget(value.place);
      return value.integer == 0 ? value : RunValue{};
    }
    return value;
  }
  case clang::CK_ConstructorConversion:
  case clang::CK_UserDefinedConversion:
  case clang::CK_NoOp:
  case clang::CK_FunctionToPointerDecay:
  case clang::CK_BuiltinFnToFnPtr:
  case clang::CK_DerivedToBase:
  case clang::CK_UncheckedDerivedToBase:
    return evaluate(operand);
  default:
    return converted(evaluate(operand), cast.getType());
  }
}

} // namespace warpwright::analysis
