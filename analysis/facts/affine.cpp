// Values of integer expressions; see affine.h. Calls are in affine_calls.cpp, places of pointers in
// affine_places.cpp, uniformity in affine_uniform.cpp.
//
// Cycles (a variable whose update reads itself) are cut: while a value is being computed, it is
// assumed to be uniform. The result is the least fixed point, as in a data-flow analysis. A step
// budget bounds hostile input; beyond it every expression is the same unknown, "?". Thread: the
// unit's thread.
#include "analysis/facts/affine.h"

#include "support/budget.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <utility>

namespace warpwright::analysis {

using namespace clang;

namespace {

constexpr int kMaxSteps = 100'000; ///< visited expressions and their terms per function
constexpr int kMaxDepth = 200;     ///< depth of substitution
constexpr std::size_t kMaxTerms = 48;
constexpr int kWarpSize = 32;

std::string symbol_of(Operation operation) {
  switch (operation) {
  case Operation::Divide:
    return "/";
  case Operation::Remainder:
    return "%";
  case Operation::And:
    return "&";
  case Operation::Or:
    return "|";
  case Operation::Xor:
    return "^";
  case Operation::ShiftRight:
    return ">>";
  default:
    return ",";
  }
}

SymbolKind worse(SymbolKind a, SymbolKind b) {
  const auto rank = [](SymbolKind kind) {
    return kind == SymbolKind::Varying  ? 3
           : kind == SymbolKind::Thread ? 2
           : kind == SymbolKind::Loop   ? 1
                                        : 0;
  };
  return rank(a) >= rank(b) ? a : b;
}

bool is_power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

/// `left` modulo `divisor` without the terms that are multiples of `divisor`. Sizes and indices are
/// not negative.
symbolic::Polynomial reduced(const symbolic::Polynomial &left, std::int64_t divisor) {
  symbolic::Polynomial result;
  for (const auto &[monomial, coefficient] : left.terms()) {
    if (coefficient % divisor == 0)
      continue;
    symbolic::Polynomial term(coefficient);
    for (const std::string &factor : monomial)
      term = term * symbolic::Polynomial::symbol(factor);
    result = result + term;
  }
  return result;
}

std::optional<std::int64_t> folded(Operation operation, std::int64_t a, std::int64_t b) {
  switch (operation) {
  case Operation::Divide:
    return b > 0 ? std::optional(a / b) : std::nullopt;
  case Operation::Remainder:
    return b > 0 ? std::optional(a % b) : std::nullopt;
  case Operation::And:
    return a & b;
  case Operation::Or:
    return a | b;
  case Operation::Xor:
    return a ^ b;
  case Operation::ShiftRight:
    return b >= 0 && b < 63 ? std::optional(a >> b) : std::nullopt;
  case Operation::Minimum:
    return std::min(a, b);
  case Operation::Maximum:
    return std::max(a, b);
  case Operation::None:
    return std::nullopt;
  }
  return std::nullopt;
}

std::string printed(const ASTContext &context, const Expr &expression) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  expression.printPretty(stream, nullptr, context.getPrintingPolicy());
  return text;
}

/// Source text with normalized white space; empty for a part of a macro expansion.
std::string source_text(const ASTContext &context, const Expr &expression) {
  const StringRef source =
      Lexer::getSourceText(CharSourceRange::getTokenRange(expression.getSourceRange()),
                           context.getSourceManager(), context.getLangOpts());
  std::string text;
  for (const char c : source) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!is_space)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  return text;
}

} // namespace

std::string builtin_index(const Expr *expression) {
  if (!expression)
    return {};
  expression = expression->IgnoreParenImpCasts();
  if (const auto *pseudo = dyn_cast<PseudoObjectExpr>(expression))
    expression = pseudo->getSyntacticForm()->IgnoreParenImpCasts();
  const Expr *base = nullptr;
  std::string member;
  if (const auto *access = dyn_cast<MemberExpr>(expression)) {
    base = access->getBase();
    member = access->getMemberDecl()->getNameAsString();
  } else if (const auto *property = dyn_cast<MSPropertyRefExpr>(expression)) {
    base = property->getBaseExpr();
    member = property->getPropertyDecl()->getNameAsString();
  }
  const VarDecl *variable = named_variable(base);
  if (!variable || variable->hasLocalStorage() || (member != "x" && member != "y" && member != "z"))
    return {};
  const std::string name = variable->getNameAsString();
  if (name != "threadIdx" && name != "blockIdx" && name != "blockDim" && name != "gridDim")
    return {};
  return name + "." + member;
}

std::string whole_expression_text(const ASTContext &context, const Expr *expression) {
  if (!expression)
    return {};
  const SourceRange range = expression->getSourceRange();
  return range.getBegin().isMacroID() || range.getEnd().isMacroID()
             ? printed(context, *expression)
             : source_text(context, *expression);
}

std::string expression_text(const ASTContext &context, const Expr *expression) {
  if (!expression)
    return {};
  const std::string text = source_text(context, *expression); // may be only the name of a macro
  return (text.empty() ? printed(context, *expression) : text).substr(0, 80);
}

AffineAnalysis::AffineAnalysis(const ASTContext &context, const FunctionDecl &function)
    : context_(context), function_(function), flow_(function.getBody()) {}

symbolic::Polynomial AffineAnalysis::opaque(const std::string &name, SymbolKind kind) {
  Symbol &symbol = symbols_[name];
  symbol.kind = worse(symbol.kind, kind);
  return symbolic::Polynomial::symbol(name);
}

symbolic::Polynomial AffineAnalysis::opaque(const Expr *expression, SymbolKind kind) {
  const std::string text = whole_expression_text(context_, expression);
  return opaque(text.empty() ? "?" : text, kind);
}

symbolic::Polynomial AffineAnalysis::derived(Operation operation, const symbolic::Polynomial &left,
                                             const symbolic::Polynomial &right) {
  const auto a = left.number(), b = right.number();
  if (a && b)
    if (const auto value = folded(operation, *a, *b))
      return *value;
  if (operation == Operation::ShiftRight && b && *b >= 0 && *b < 32)
    return derived(Operation::Divide, left, std::int64_t{1} << *b);
  if (operation == Operation::And && b && *b > 0 && *b < INT64_MAX && is_power_of_two(*b + 1))
    return derived(Operation::Remainder, left, *b + 1);
  if (operation == Operation::Divide && b && *b > 0)
    if (const auto exact = left.divided_by(*b))
      return *exact;
  symbolic::Polynomial operand = left;
  if (operation == Operation::Remainder && b && *b > 0)
    operand = reduced(left, *b);
  if (operand.is_zero() && (operation == Operation::Remainder || operation == Operation::Divide))
    return 0;
  const bool is_call = operation == Operation::Minimum || operation == Operation::Maximum;
  const std::string prefix = operation == Operation::Minimum ? "min" : is_call ? "max" : "";
  const std::string name =
      short_name(prefix + "(" + operand.text() + symbol_of(operation) + right.text() + ")");
  Symbol &symbol = symbols_[name];
  symbol = {worse(kind_of(operand), kind_of(right)), operation, operand, right};
  return symbolic::Polynomial::symbol(name);
}

/// Limits the length of symbol names. A name contains the names of its operands, so each round of a
/// hash function would double it.
const std::string &AffineAnalysis::short_name(const std::string &text) {
  constexpr std::size_t kLongest = 200, kShown = 60;
  const auto [place, is_new] = short_names_.try_emplace(text, text);
  if (is_new && text.size() > kLongest)
    place->second = text.substr(0, kShown) + "... #" + std::to_string(short_names_.size()) + ")";
  return place->second;
}

SymbolKind AffineAnalysis::kind_of(const symbolic::Polynomial &value) const {
  SymbolKind kind = SymbolKind::Uniform;
  for (const std::string &name : value.symbols())
    if (const auto found = symbols_.find(name); found != symbols_.end())
      kind = worse(kind, found->second.kind);
  return kind;
}

symbolic::Polynomial AffineAnalysis::value(const Expr *expression) {
  checkpoint();
  if (!expression || depth_ > kMaxDepth || ++steps_ > kMaxSteps)
    return opaque("?", SymbolKind::Varying);
  ++depth_;
  symbolic::Polynomial result = compute(expression->IgnoreParenImpCasts());
  --depth_;
  steps_ += static_cast<int>(result.terms().size());
  if (result.terms().size() > kMaxTerms)
    return opaque(expression, kind_of(result) == SymbolKind::Uniform ? SymbolKind::Uniform
                                                                     : SymbolKind::Varying);
  return result;
}

symbolic::Polynomial AffineAnalysis::compute(const Expr *e) {
  if (const std::string name = builtin_index(e); !name.empty())
    return opaque(name, name.starts_with("threadIdx") ? SymbolKind::Thread : SymbolKind::Uniform);
  const auto unknown = [&] {
    return opaque(e, varies(e) ? SymbolKind::Varying : SymbolKind::Uniform);
  };
  const QualType type = e->getType();
  if (type.isNull() || (!type->isDependentType() && !type->isIntegralOrEnumerationType()))
    return isa<DeclRefExpr>(e) ? value_of_use(cast<DeclRefExpr>(e)) : unknown();
  if (!e->isTypeDependent() && !e->isValueDependent() && !e->containsErrors()) {
    Expr::EvalResult constant;
    if (e->EvaluateAsInt(constant, context_) && constant.Val.isInt() &&
        constant.Val.getInt().isRepresentableByInt64())
      return constant.Val.getInt().getExtValue();
  }
  if (const auto *use = dyn_cast<DeclRefExpr>(e))
    return value_of_use(use);
  if (const auto *binary = dyn_cast<BinaryOperator>(e))
    return value_of_binary(binary->getOpcode(), binary->getLHS(), binary->getRHS(), e);
  if (const auto *unary = dyn_cast<UnaryOperator>(e))
    return value_of_unary(unary);
  if (const auto *choice = dyn_cast<AbstractConditionalOperator>(e))
    return value_of_choice(choice);
  if (const auto *operation = dyn_cast<CXXOperatorCallExpr>(e);
      operation && operation->getNumArgs() == 2 && operation->isInfixBinaryOp())
    return value_of_binary(BinaryOperator::getOverloadedOpcode(operation->getOperator()),
                           operation->getArg(0), operation->getArg(1), e);
  if (const auto *cast = dyn_cast<ExplicitCastExpr>(e)) {
    const QualType from = cast->getSubExpr()->getType();
    return from.isNull() || from->isDependentType() || from->isIntegralOrEnumerationType()
               ? value(cast->getSubExpr())
               : unknown();
  }
  if (const auto *construct = dyn_cast<CXXUnresolvedConstructExpr>(e);
      construct && construct->getNumArgs() == 1)
    return value(construct->getArg(0));
  if (const auto *call = dyn_cast<CallExpr>(e))
    return value_of_call(call);
  return unknown();
}

symbolic::Polynomial AffineAnalysis::value_of_binary(BinaryOperatorKind opcode, const Expr *left,
                                                     const Expr *right, const Expr *whole) {
  const auto with = [&](Operation operation) {
    return derived(operation, value(left), value(right));
  };
  switch (opcode) {
  case BO_Add:
    return value(left) + value(right);
  case BO_Sub:
    return value(left) - value(right);
  case BO_Mul: {
    const symbolic::Polynomial a = value(left), b = value(right);
    if (a.terms().size() * b.terms().size() <= kMaxTerms)
      return a * b;
    break;
  }
  case BO_Shl:
    if (const auto bits = value(right).number(); bits && *bits >= 0 && *bits < 62)
      return value(left) * symbolic::Polynomial(std::int64_t{1} << *bits);
    break;
  case BO_Div:
    return with(Operation::Divide);
  case BO_Rem:
    return with(Operation::Remainder);
  case BO_And:
    return with(Operation::And);
  case BO_Or:
    return with(Operation::Or);
  case BO_Xor:
    return with(Operation::Xor);
  case BO_Shr:
    return with(Operation::ShiftRight);
  case BO_Comma:
    return value(right);
  case BO_Assign:
    return value(right);
  default:
    break;
  }
  return opaque(whole, varies(left) || varies(right) ? SymbolKind::Varying : SymbolKind::Uniform);
}

symbolic::Polynomial AffineAnalysis::value_of_unary(const UnaryOperator *expression) {
  const Expr *operand = expression->getSubExpr();
  switch (expression->getOpcode()) {
  case UO_Plus:
  case UO_PostInc:
  case UO_PostDec:
    return value(operand);
  case UO_Minus:
    return symbolic::Polynomial(0) - value(operand);
  case UO_Not:
    return symbolic::Polynomial(-1) - value(operand);
  case UO_PreInc:
    return value(operand) + symbolic::Polynomial(1);
  case UO_PreDec:
    return value(operand) - symbolic::Polynomial(1);
  default:
    return opaque(expression, varies(expression) ? SymbolKind::Varying : SymbolKind::Uniform);
  }
}

/// A clamp at a border (`i < n ? i : n - 1`) has the value of the arm that follows the thread
/// index.
symbolic::Polynomial
AffineAnalysis::value_of_choice(const AbstractConditionalOperator *expression) {
  const symbolic::Polynomial yes = value(expression->getTrueExpr()),
                             no = value(expression->getFalseExpr());
  if (yes == no)
    return yes;
  const auto is_uniform = [&](const symbolic::Polynomial &arm) {
    return kind_of(arm) != SymbolKind::Thread;
  };
  if (kind_of(yes) == SymbolKind::Thread && is_uniform(no) && kind_of(no) != SymbolKind::Varying)
    return yes;
  if (kind_of(no) == SymbolKind::Thread && is_uniform(yes) && kind_of(yes) != SymbolKind::Varying)
    return no;
  return opaque(expression, varies(expression) ? SymbolKind::Varying : SymbolKind::Uniform);
}

symbolic::Polynomial AffineAnalysis::value_of_use(const DeclRefExpr *use) {
  if (const auto *parameter = dyn_cast<ParmVarDecl>(use->getDecl()))
    if (const auto bound = bound_.find(parameter); bound != bound_.end())
      return bound->second;
  const auto *variable = dyn_cast<VarDecl>(use->getDecl());
  if (!variable)
    return opaque(use, isa<NonTypeTemplateParmDecl>(use->getDecl()) ||
                               isa<EnumConstantDecl>(use->getDecl())
                           ? SymbolKind::Uniform
                           : SymbolKind::Varying);
  const std::string name = variable->getNameAsString();
  if (name == "warpSize" && !variable->hasLocalStorage())
    return kWarpSize;
  if (!variable->hasLocalStorage())
    return opaque(name, SymbolKind::Loop);
  const auto position = flow_.position_of(use);
  if (!position)
    return opaque(name, SymbolKind::Varying);
  return value_at(variable, *position);
}

symbolic::Polynomial AffineAnalysis::value_at(const VarDecl *variable, const Position &at) {
  const std::string name = variable->getNameAsString();
  const bool is_parameter = isa<ParmVarDecl>(variable);
  if (variable->getType()->isArrayType() && !is_parameter)
    return opaque(name, SymbolKind::Varying);
  if (is_parameter && flow_.definitions_of(variable).empty())
    return opaque(name, SymbolKind::Uniform);
  const auto key = std::pair(variable, at.order);
  if (const auto found = known_.find(key); found != known_.end())
    return found->second;
  if (++steps_ > kMaxSteps)
    return opaque("?", SymbolKind::Varying);
  if (!in_progress_.insert(key).second)
    return symbolic::Polynomial::symbol(name);
  const Reaching found = reaching(variable, at);
  symbolic::Polynomial result;
  if (!found.base && !is_parameter)
    result = merged(variable, symbolic::Polynomial(0), found);
  else {
    result = found.base ? value_from(variable, *found.base) : opaque(name, SymbolKind::Uniform);
    if (!found.updates.empty())
      result = merged(variable, result, found);
  }
  in_progress_.erase(key);
  if (in_progress_.empty())
    known_[key] = result;
  return result;
}

/// The value directly after one definition.
symbolic::Polynomial AffineAnalysis::value_from(const VarDecl *variable,
                                                const Definition &definition) {
  const std::string name = variable->getNameAsString();
  switch (definition.update) {
  case Update::Assign:
    return definition.value ? value(definition.value) : opaque(name, SymbolKind::Uniform);
  case Update::Add:
    return value_at(variable, definition.at) +
           (definition.value ? value(definition.value) : symbolic::Polynomial(1));
  case Update::Subtract:
    return value_at(variable, definition.at) -
           (definition.value ? value(definition.value) : symbolic::Polynomial(1));
  case Update::Other: {
    const symbolic::Polynomial before = value_at(variable, definition.at);
    const SymbolKind kind = worse(
        kind_of(before), definition.value ? kind_of(value(definition.value)) : SymbolKind::Uniform);
    return opaque(name, kind == SymbolKind::Thread ? SymbolKind::Varying : kind);
  }
  case Update::Unknown:
    return opaque(name, SymbolKind::Varying);
  }
  std::unreachable();
}

/// The value where several definitions meet: a counter that all threads advance alike, or an
/// unknown.
symbolic::Polynomial AffineAnalysis::merged(const VarDecl *variable,
                                            const symbolic::Polynomial &start,
                                            const Reaching &reaching) {
  const std::string name = variable->getNameAsString();
  const SymbolKind start_kind = kind_of(start);
  if (start_kind != SymbolKind::Varying && advances_uniformly(reaching)) {
    if (start_kind != SymbolKind::Thread)
      return opaque(name, SymbolKind::Loop);
    return start + opaque("trip(" + name + ")", SymbolKind::Loop);
  }
  const bool differs = start_kind == SymbolKind::Varying || start_kind == SymbolKind::Thread ||
                       std::ranges::any_of(reaching.updates, [&](const Definition *update) {
                         return diverges(*update, reaching.base);
                       });
  return opaque(name, differs ? SymbolKind::Varying : SymbolKind::Loop);
}

AffineIndex AffineAnalysis::index_of(const Place &place,
                                     const symbolic::Polynomial &element_bytes) const {
  AffineIndex index;
  const auto elements = place.bytes.divided_by(element_bytes.number().value_or(1));
  if (!elements)
    return index;
  index.affine = true;
  for (const auto &[monomial, coefficient] : elements->terms()) {
    int thread_factors = 0;
    for (const std::string &name : monomial) {
      const auto found = symbols_.find(name);
      const SymbolKind kind = found == symbols_.end() ? SymbolKind::Varying : found->second.kind;
      thread_factors += name.starts_with("threadIdx.");
      if (kind == SymbolKind::Varying ||
          (kind == SymbolKind::Thread && !name.starts_with("threadIdx.")))
        index.affine = false;
    }
    index.affine &= thread_factors <= 1;
    if (monomial.empty())
      index.constant = coefficient;
    else
      index.coefficients[symbolic::to_string(monomial)] = coefficient;
  }
  const symbolic::Polynomial stride = elements->coefficient_of("threadIdx.x");
  if (!stride.number())
    index.symbolic_stride = stride.text();
  return index;
}

std::set<std::string> AffineAnalysis::root_symbols(const symbolic::Polynomial &value) const {
  std::set<std::string> roots;
  std::vector<symbolic::Polynomial> pending{value};
  while (!pending.empty()) {
    const symbolic::Polynomial next = pending.back();
    pending.pop_back();
    for (const std::string &name : next.symbols()) {
      const auto found = symbols_.find(name);
      if (!roots.insert(name).second || found == symbols_.end() ||
          found->second.operation == Operation::None)
        continue;
      pending.push_back(found->second.left);
      pending.push_back(found->second.right);
    }
  }
  return roots;
}

} // namespace warpwright::analysis
