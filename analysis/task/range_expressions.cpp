// Expressions and memory accesses of the range interpreter.
// Thread: the unit's thread.
#include "analysis/facts/affine.h"
#include "support/budget.h"
#include "analysis/task/host_program.h"
#include "analysis/task/range_interpreter.h"
#include "analysis/task/struct_fields.h"
#include "support/model/dtype.h"
#include "support/text.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

constexpr int kMaxDepth = 60;

int axis_of(std::string_view name) { return name.back() - 'x'; }

} // namespace

symbolic::Interval range_of_type(const clang::ASTContext &context, clang::QualType type) {
  if (type.isNull() || type->isDependentType() || !type->isIntegralOrEnumerationType() ||
      type->isIncompleteType())
    return {};
  const unsigned bits = static_cast<unsigned>(context.getIntWidth(type));
  if (bits > 16)
    return type->isUnsignedIntegerType() && bits <= 32
               ? symbolic::Interval{0, symbolic::Interval::kInfinity}
               : symbolic::Interval{};
  const std::int64_t span = std::int64_t{1} << bits;
  return type->isUnsignedIntegerOrEnumerationType() ? symbolic::Interval{0, span - 1}
                                                    : symbolic::Interval{-span / 2, span / 2 - 1};
}

std::int64_t RangeInterpreter::size_of(clang::QualType type) const {
  if (type.isNull() || type->isDependentType() || type->isIncompleteType() ||
      type->isFunctionType() || type->isVoidType())
    return type.isNull() || !type->isVoidType() ? 4 : 1;
  return context_.getTypeSizeInChars(type).getQuantity();
}

std::string RangeInterpreter::text_of(const clang::Expr *expression) const {
  return whole_expression_text(context_, expression);
}

RangeValue RangeInterpreter::evaluate(const clang::Expr *expression) {
  checkpoint();
  if (!expression || depth_ > kMaxDepth || ++steps_ > 200'000)
    return {};
  ++depth_;
  RangeValue value = evaluate_kind(expression);
  --depth_;
  if (!state_.facts.empty() && !expression->getType().isNull() &&
      expression->getType()->isIntegralOrEnumerationType())
    if (const auto fact = state_.facts.find(text_of(expression)); fact != state_.facts.end())
      value.range = symbolic::intersect(value.range, fact->second);
  return value;
}

RangeValue RangeInterpreter::evaluate_kind(const clang::Expr *expression) {
  if (const std::string builtin = builtin_index(expression); !builtin.empty()) {
    const auto axis = static_cast<std::size_t>(axis_of(builtin));
    if (axis > 2)
      return {};
    if (builtin.starts_with("threadIdx"))
      return {.range = {0, launch_.block[axis] - 1}};
    if (builtin.starts_with("blockIdx"))
      return {.range = {0, launch_.grid[axis] - 1}};
    return {.range = symbolic::Interval::of(builtin.starts_with("blockDim") ? launch_.block[axis]
                                                                            : launch_.grid[axis])};
  }
  if (const auto *cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expression)) {
    if (cast->getCastKind() == clang::CK_LValueToRValue)
      return load(cast->getSubExpr());
    RangeValue value = evaluate(cast->getSubExpr());
    if (cast->getCastKind() == clang::CK_FloatingToIntegral)
      value.range = range_of_type(context_, cast->getType());
    return value;
  }
  const clang::Expr *inner = bare(expression);
  if (inner != expression) {
    RangeValue value = evaluate(inner);
    if (is_float(inner->getType()) && !is_float(expression->getType()))
      value.range = range_of_type(context_, expression->getType());
    return value;
  }
  if (const auto *operation = llvm::dyn_cast<clang::BinaryOperator>(expression))
    return operation->isAssignmentOp() ? evaluate_assignment(*operation)
                                       : evaluate_binary(*operation);
  if (const auto *operation = llvm::dyn_cast<clang::UnaryOperator>(expression))
    return evaluate_unary(*operation);
  if (const auto *call = llvm::dyn_cast<clang::CallExpr>(expression))
    return evaluate_call(*call);
  if (const auto *choice = llvm::dyn_cast<clang::ConditionalOperator>(expression)) {
    evaluate(choice->getCond());
    const State start = state_;
    assume(choice->getCond(), true);
    RangeValue value = evaluate(choice->getTrueExpr());
    state_ = start;
    assume(choice->getCond(), false);
    const RangeValue other = evaluate(choice->getFalseExpr());
    state_ = start;
    value.range = symbolic::hull(value.range, other.range);
    if (!value.loaded)
      value.loaded = other.loaded;
    return value;
  }
  if (llvm::isa<clang::DeclRefExpr, clang::ArraySubscriptExpr, clang::MemberExpr>(expression))
    return load(expression);
  clang::Expr::EvalResult constant;
  if (!expression->isValueDependent() && expression->getType()->isIntegralOrEnumerationType() &&
      expression->EvaluateAsInt(constant, context_))
    return {.range = symbolic::Interval::of(
                symbolic::Interval::clamp(constant.Val.getInt().getExtValue()))};
  for (const clang::Stmt *child : expression->children())
    if (const auto *operand = llvm::dyn_cast_or_null<clang::Expr>(child))
      evaluate(operand);
  return {};
}

RangeValue RangeInterpreter::evaluate_variable(const clang::VarDecl &variable) {
  const auto known = state_.variables.find(&variable);
  if (known == state_.variables.end()) {
    if (variable.getType()->isArrayType() || variable.hasAttr<clang::CUDASharedAttr>())
      return {.range = {}, .loaded = {}, .pointer = PointerRange{}};
    clang::Expr::EvalResult constant;
    const clang::Expr *initialiser = variable.getAnyInitializer();
    if (initialiser && !initialiser->isValueDependent() &&
        variable.getType()->isIntegralOrEnumerationType() &&
        initialiser->EvaluateAsInt(constant, context_))
      return {.range = symbolic::Interval::of(constant.Val.getInt().getExtValue())};
    return {};
  }
  RangeValue value = known->second;
  // The value of a local that never changes is its initializer, evaluated under the current guards.
  if (const clang::Expr *initialiser = variable.getInit();
      initialiser && !value.loaded && variable.getType()->isIntegralOrEnumerationType() &&
      is_defined_once(variable)) {
    const bool silent = is_silent_;
    is_silent_ = true;
    const RangeValue again = evaluate(initialiser);
    is_silent_ = silent;
    if (const symbolic::Interval both = symbolic::intersect(value.range, again.range);
        !both.is_empty())
      value.range = both;
  }
  return value;
}

RangeValue RangeInterpreter::load(const clang::Expr *lvalue) {
  lvalue = bare(lvalue);
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(lvalue)) {
    if (const auto *enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(reference->getDecl()))
      return {.range = symbolic::Interval::of(enumerator->getInitVal().getExtValue())};
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
    return variable ? evaluate_variable(*variable) : RangeValue{};
  }
  RangeValue value;
  value.range = range_of_type(context_, lvalue->getType());
  if (const std::string field = struct_field_name(lvalue); !field.empty()) {
    if (const auto known = launch_.scalars.find(field); known != launch_.scalars.end())
      value.range = symbolic::Interval::of(known->second);
    if (lvalue->getType()->isPointerType())
      value.pointer = PointerRange{.buffer = field};
    return value;
  }
  if (lvalue->getType()->isArrayType() || lvalue->isPRValue()) {
    value.pointer = lvalue->getType()->isArrayType() ? place(lvalue) : std::nullopt;
    if (lvalue->isPRValue() && !llvm::isa<clang::MemberExpr, clang::ArraySubscriptExpr>(lvalue))
      return evaluate_kind(lvalue); // not of a method or of an element without memory, which come back here
    return value;
  }
  const auto at = place(lvalue);
  if (at && !at->buffer.empty()) {
    record(*at, lvalue->getType(), false, false);
    value.loaded = LoadedValue{at->buffer, 1, symbolic::Interval::of(0)};
  }
  return value;
}

PointerRange RangeInterpreter::moved(const PointerRange &pointer, const RangeValue &index,
                                     std::int64_t element_bytes) {
  PointerRange result = pointer;
  result.bytes = pointer.bytes + index.range * symbolic::Interval::of(element_bytes);
  if (index.loaded)
    index_loaded_ =
        LoadedValue{index.loaded->buffer, index.loaded->coefficient * element_bytes,
                    index.loaded->rest * symbolic::Interval::of(element_bytes) + pointer.bytes};
  else if (index_loaded_)
    index_loaded_->rest = index_loaded_->rest + index.range * symbolic::Interval::of(element_bytes);
  return result;
}

std::optional<PointerRange> RangeInterpreter::place(const clang::Expr *lvalue) {
  lvalue = bare(lvalue);
  if (!lvalue || depth_ > kMaxDepth)
    return std::nullopt;
  if (const auto *element = llvm::dyn_cast<clang::ArraySubscriptExpr>(lvalue)) {
    const RangeValue base = evaluate(element->getBase());
    std::optional<PointerRange> start = base.pointer;
    if (!start)
      start = place(element->getBase());
    const RangeValue index = evaluate(element->getIdx());
    index_loaded_.reset();
    return start ? std::optional(moved(*start, index, size_of(element->getType()))) : std::nullopt;
  }
  if (const auto *dereference = llvm::dyn_cast<clang::UnaryOperator>(lvalue);
      dereference && dereference->getOpcode() == clang::UO_Deref) {
    index_loaded_.reset();
    return evaluate(dereference->getSubExpr()).pointer;
  }
  if (const auto *access = llvm::dyn_cast<clang::MemberExpr>(lvalue)) {
    auto base = access->isArrow() ? evaluate(access->getBase()).pointer : place(access->getBase());
    const auto *field = llvm::dyn_cast<clang::FieldDecl>(access->getMemberDecl());
    if (base && field && !field->getParent()->isDependentType() &&
        !field->getParent()->isInvalidDecl())
      base->bytes =
          base->bytes + symbolic::Interval::of(context_
                                                   .toCharUnitsFromBits(static_cast<std::int64_t>(
                                                       context_.getFieldOffset(field)))
                                                   .getQuantity());
    return base;
  }
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(lvalue))
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl()))
      if (variable->getType()->isReferenceType() || variable->getType()->isArrayType() ||
          variable->getType()->isPointerType())
        return evaluate_variable(*variable).pointer;
  return std::nullopt;
}

void RangeInterpreter::record(const PointerRange &pointer, clang::QualType type, bool is_write,
                              bool is_atomic) {
  if (is_silent_ || pointer.buffer.empty() || pointer.bytes.is_empty())
    return;
  RangedAccess access;
  access.buffer = pointer.buffer;
  access.bytes = pointer.bytes + symbolic::Interval{0, size_of(type) - 1};
  access.is_write = is_write;
  access.is_atomic = is_atomic;
  access.is_uncertain = is_uncertain_;
  access.loaded = index_loaded_;
  result_.accesses.push_back(std::move(access));
}

void RangeInterpreter::store(const clang::Expr *lvalue, const RangeValue &value, bool is_compound) {
  lvalue = bare(lvalue);
  if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(lvalue))
    if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
        variable && !variable->getType()->isReferenceType()) {
      state_.variables[variable] = value;
      std::erase_if(state_.facts,
                    [&](const auto &fact) { return mentions(fact.first, variable->getName()); });
      return;
    }
  if (const auto at = place(lvalue)) {
    if (is_compound)
      record(*at, lvalue->getType(), false, false);
    record(*at, lvalue->getType(), true, false);
  }
}

RangeValue RangeInterpreter::evaluate_assignment(const clang::BinaryOperator &operation) {
  const RangeValue right = evaluate(operation.getRHS());
  const bool is_compound = operation.isCompoundAssignmentOp();
  RangeValue value = right;
  if (is_compound) {
    const bool silent = is_silent_;
    is_silent_ = true;
    const RangeValue left = load(operation.getLHS());
    is_silent_ = silent;
    const auto opcode = clang::BinaryOperator::getOpForCompoundAssignment(operation.getOpcode());
    value = arithmetic(opcode, left, right, operation.getLHS()->getType());
    if (opcode == clang::BO_Div && is_float(operation.getType()))
      need_positive(right);
    if (opcode == clang::BO_Add && is_float(operation.getType()) && !is_silent_)
      result_.reduction_length = std::max(result_.reduction_length, trips_around());
  }
  store(operation.getLHS(), value, is_compound);
  return value;
}

RangeValue RangeInterpreter::evaluate_binary(const clang::BinaryOperator &operation) {
  if (operation.isLogicalOp()) {
    evaluate(operation.getLHS());
    const State start = state_;
    assume(operation.getLHS(), operation.getOpcode() == clang::BO_LAnd);
    evaluate(operation.getRHS());
    state_ = start;
    return {.range = {0, 1}};
  }
  const RangeValue left = evaluate(operation.getLHS());
  const RangeValue right = evaluate(operation.getRHS());
  if (operation.getOpcode() == clang::BO_Comma)
    return right;
  if (operation.getOpcode() == clang::BO_Div && is_float(operation.getType()))
    need_positive(right);
  if (!operation.isComparisonOp())
    return arithmetic(operation.getOpcode(), left, right, operation.getLHS()->getType());
  RangeValue value{
      .range = {0, 1}, .loaded = left.loaded ? left.loaded : right.loaded, .pointer = {}};
  const bool exact =
      left.range.is_number() && right.range.is_number() && !is_float(operation.getLHS()->getType());
  if (exact && operation.isEqualityOp())
    value.range = symbolic::Interval::of((left.range.low == right.range.low) ==
                                         (operation.getOpcode() == clang::BO_EQ));
  return value;
}

RangeValue RangeInterpreter::arithmetic(clang::BinaryOperatorKind opcode, const RangeValue &left,
                                        const RangeValue &right, clang::QualType type) {
  RangeValue value;
  const RangeValue *pointer = left.pointer ? &left : right.pointer ? &right : nullptr;
  if (pointer && (opcode == clang::BO_Add || opcode == clang::BO_Sub) &&
      (left.pointer.has_value() != right.pointer.has_value())) {
    const RangeValue &index = pointer == &left ? right : left;
    const clang::QualType pointee = type->isPointerType() ? type->getPointeeType()
                                    : type->isArrayType()
                                        ? type->getAsArrayTypeUnsafe()->getElementType()
                                        : context_.CharTy;
    const symbolic::Interval step = index.range * symbolic::Interval::of(size_of(pointee));
    value.pointer = *pointer->pointer;
    value.pointer->bytes =
        opcode == clang::BO_Add ? value.pointer->bytes + step : value.pointer->bytes - step;
    return value;
  }
  switch (opcode) {
  case clang::BO_Add:
    value.range = left.range + right.range;
    break;
  case clang::BO_Sub:
    value.range = left.range - right.range;
    break;
  case clang::BO_Mul:
    value.range = left.range * right.range;
    break;
  case clang::BO_Div:
    value.range = left.range / right.range;
    break;
  case clang::BO_Rem:
    value.range = left.range % right.range;
    break;
  case clang::BO_Shl:
    value.range = shift_left(left.range, right.range);
    break;
  case clang::BO_Shr:
    value.range = shift_right(left.range, right.range);
    break;
  case clang::BO_And:
    value.range = bit_and(left.range, right.range);
    break;
  default:
    break;
  }
  const RangeValue *loaded = left.loaded && !right.loaded   ? &left
                             : right.loaded && !left.loaded ? &right
                                                            : nullptr;
  if (!loaded)
    return value;
  const symbolic::Interval other = loaded == &left ? right.range : left.range;
  if (opcode == clang::BO_Add || (opcode == clang::BO_Sub && loaded == &left)) {
    value.loaded = loaded->loaded;
    value.loaded->rest =
        opcode == clang::BO_Add ? value.loaded->rest + other : value.loaded->rest - other;
  } else if (opcode == clang::BO_Mul && other.is_number()) {
    value.loaded = LoadedValue{loaded->loaded->buffer, loaded->loaded->coefficient * other.low,
                               loaded->loaded->rest * other};
  }
  return value;
}

RangeValue RangeInterpreter::evaluate_unary(const clang::UnaryOperator &operation) {
  const clang::Expr *operand = operation.getSubExpr();
  switch (operation.getOpcode()) {
  case clang::UO_AddrOf:
    return {.range = {}, .loaded = {}, .pointer = place(operand)};
  case clang::UO_Deref:
    return load(&operation);
  case clang::UO_Minus: {
    RangeValue value;
    value.range = symbolic::Interval::of(0) - evaluate(operand).range;
    return value;
  }
  case clang::UO_Plus:
    return evaluate(operand);
  case clang::UO_LNot: {
    const RangeValue value = evaluate(operand);
    return {.range = {0, 1}, .loaded = value.loaded, .pointer = {}};
  }
  default:
    break;
  }
  if (!operation.isIncrementDecrementOp()) {
    evaluate(operand);
    return {};
  }
  const RangeValue before = load(operand);
  RangeValue one{.range = symbolic::Interval::of(1), .loaded = {}, .pointer = {}};
  const RangeValue after = arithmetic(operation.isIncrementOp() ? clang::BO_Add : clang::BO_Sub,
                                      before, one, operand->getType());
  store(operand, after, false);
  return operation.isPrefix() ? after : before;
}

void RangeInterpreter::need_positive(const RangeValue &value) {
  if (value.loaded && !is_silent_)
    result_.positive.insert(value.loaded->buffer);
}

KernelRanges kernel_ranges(const clang::ASTContext &context, const clang::FunctionDecl &kernel,
                           const BoundLaunch &launch) {
  return RangeInterpreter(context, launch).run(kernel);
}

} // namespace warpwright::analysis
