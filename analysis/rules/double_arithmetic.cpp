// double-arithmetic: float values mixed with a double literal or a double function, so the double
// units do the work.
//
// Only mixtures of float operands with literals are reported. Code that names double is intended,
// and a literal that is only converted to float costs nothing. Functions with one argument have
// float overloads in CUDA and are not reported. The rule covers kernels and device functions of the
// file.
// Thread: the unit's thread.
#include "analysis/rules/rules.h"

#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace warpwright::analysis {

using namespace clang;

namespace {

constexpr const char *kCost =
    "The double units of most GPUs run at 1/64 of the float rate (1/2 on data-centre GPUs).";

bool is_float(const Expr *expression) {
  const QualType type = expression->IgnoreParenImpCasts()->getType();
  const auto *builtin = type.isNull() ? nullptr : type.getCanonicalType()->getAs<BuiltinType>();
  return builtin &&
         (builtin->getKind() == BuiltinType::Float || builtin->getKind() == BuiltinType::Half);
}

bool is_double(QualType type) {
  return !type.isNull() && type.getCanonicalType()->isSpecificBuiltinType(BuiltinType::Double);
}

/// The operands of an expression of type double.
struct Operands {
  std::vector<const FloatingLiteral *> literals; ///< literals of type double
  bool has_float = false;                        ///< any operand is float before conversion
};

/// Functions of one argument with a float overload. Their result type follows the argument.
bool follows_its_argument(const std::string &name) {
  static const std::set<std::string> names{
      "sqrt", "rsqrt", "exp",  "exp2", "log",   "log2", "log10", "sin",  "cos",
      "tan",  "tanh",  "erf",  "erfc", "floor", "ceil", "round", "fabs", "abs",
      "sinh", "cosh",  "asin", "acos", "atan",  "cbrt", "expm1", "log1p"};
  return names.contains(name);
}

/// Adds the operands of an expression. Returns false if the expression contains an intended double
/// or an unknown construct.
bool collect(const Expr *expression, Operands &operands, int depth = 0) {
  expression = expression->IgnoreParenImpCasts();
  if (depth > 60)
    return false;
  if (const auto *literal = dyn_cast<FloatingLiteral>(expression)) {
    if (is_double(literal->getType()))
      operands.literals.push_back(literal);
    return true;
  }
  if (is_float(expression)) {
    operands.has_float = true;
    return true;
  }
  if (expression->getType()->isIntegralOrEnumerationType())
    return true;
  if (const auto *unary = dyn_cast<UnaryOperator>(expression); unary && unary->isArithmeticOp())
    return collect(unary->getSubExpr(), operands, depth + 1);
  if (const auto *choice = dyn_cast<ConditionalOperator>(expression))
    return collect(choice->getTrueExpr(), operands, depth + 1) &&
           collect(choice->getFalseExpr(), operands, depth + 1);
  if (const auto *call = dyn_cast<CallExpr>(expression))
    return call->getNumArgs() == 1 && follows_its_argument(callee_name(call)) &&
           collect(call->getArg(0), operands, depth + 1);
  const auto *binary = dyn_cast<BinaryOperator>(expression);
  return binary && (binary->isAdditiveOp() || binary->isMultiplicativeOp()) &&
         collect(binary->getLHS(), operands, depth + 1) &&
         collect(binary->getRHS(), operands, depth + 1);
}

class DoubleVisitor : public RecursiveASTVisitor<DoubleVisitor> {
public:
  DoubleVisitor(const RuleInput &input, std::vector<Diagnostic> &out) : input_(input), out_(out) {}

  static bool is_device(const FunctionDecl *function) {
    return function->hasAttr<CUDADeviceAttr>() || function->hasAttr<CUDAGlobalAttr>();
  }
  bool TraverseFunctionDecl(FunctionDecl *function) {
    return is_device(function) ? RecursiveASTVisitor::TraverseFunctionDecl(function) : true;
  }
  bool TraverseCXXMethodDecl(CXXMethodDecl *method) {
    return is_device(method) ? RecursiveASTVisitor::TraverseCXXMethodDecl(method) : true;
  }
  bool TraverseCXXConstructorDecl(CXXConstructorDecl *constructor) {
    return is_device(constructor) ? RecursiveASTVisitor::TraverseCXXConstructorDecl(constructor)
                                  : true;
  }

  /// Outer expressions are visited before their parts, so one report covers the largest float
  /// expression.
  bool VisitBinaryOperator(BinaryOperator *binary) {
    if (binary->isLogicalOp() || binary->getOpcode() == BO_Assign ||
        binary->getOpcode() == BO_Comma)
      return true;
    Operands operands;
    const auto *compound = dyn_cast<CompoundAssignOperator>(binary);
    const bool is_meant =
        compound
            ? !is_double(compound->getComputationLHSType()) || !is_float(compound->getLHS())
            : !is_double(binary->getLHS()->getType()) && !is_double(binary->getRHS()->getType());
    operands.has_float = compound != nullptr;
    if (!is_meant && (compound || collect(binary->getLHS(), operands)) &&
        collect(binary->getRHS(), operands))
      report(operands);
    return true;
  }

  bool VisitConditionalOperator(ConditionalOperator *choice) {
    Operands operands;
    if (is_double(choice->getType()) && collect(choice, operands))
      report(operands);
    return true;
  }

  bool VisitCallExpr(CallExpr *call) {
    static const std::set<std::string> names{"pow",   "fmax",  "fmin", "fmod",
                                             "atan2", "hypot", "fma",  "remainder"};
    const std::string name = callee_name(call);
    if (!names.contains(name) || !is_double(call->getType()))
      return true;
    Operands operands;
    bool is_explicit = false;
    for (const Expr *argument : call->arguments()) {
      is_explicit |= !collect(argument, operands);
    }
    if (operands.has_float && !is_explicit)
      report_call(call, name, operands.literals);
    return true;
  }

private:
  /// An edit that makes a literal float; nullopt if the literal cannot be edited.
  std::optional<TextEdit> float_edit(const FloatingLiteral *literal) const {
    const auto range = input_.unit.range_of(literal->getSourceRange());
    const std::string text = range ? input_.text(*range) : "";
    if (!text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'))) {
      if (text.find_first_of("lLfFpPxX") == std::string::npos)
        return insertion(range->end, "f");
      return std::nullopt;
    }
    // The literal is in a macro, and other uses of the macro may need the double.
    const Range use = shown_range(input_.unit, literal->getSourceRange());
    if (use.size() == 0)
      return std::nullopt;
    return insertion(use.begin, "(float)");
  }

  void report(const Operands &operands) {
    const auto &literals = operands.literals;
    if (literals.empty() || !operands.has_float || !covered_.insert(literals[0]).second)
      return;
    covered_.insert(literals.begin(), literals.end());
    QuickFix fix{literals.size() == 1 ? "Make the literal float" : "Make the literals float", {}};
    for (const FloatingLiteral *literal : literals)
      if (auto edit = float_edit(literal))
        fix.edits.push_back(std::move(*edit));
    const Range range = shown_range(input_.unit, literals[0]->getSourceRange());
    if (range.size() == 0 || !reported_.insert(range).second)
      return;
    Diagnostic diagnostic = make_diagnostic(
        input_, "double-arithmetic", Severity::Warning, range,
        input_.text(range) +
            " is a double, so this float expression is computed in double precision. " + kCost);
    if (fix.edits.size() == literals.size())
      diagnostic.fixes.push_back(std::move(fix));
    out_.push_back(std::move(diagnostic));
  }

  void report_call(const CallExpr *call, const std::string &name,
                   const std::vector<const FloatingLiteral *> &literals) {
    const SourceRange callee = call->getCallee()->getSourceRange();
    const Range range = shown_range(input_.unit, callee);
    if (range.size() == 0 || !reported_.insert(range).second)
      return;
    QuickFix fix{"Call " + name + "f", {}};
    if (input_.unit.range_of(callee))
      fix.edits.push_back({range, name + "f"});
    for (const FloatingLiteral *literal : literals)
      if (auto edit = float_edit(literal))
        fix.edits.push_back(std::move(*edit));
    Diagnostic diagnostic = make_diagnostic(
        input_, "double-arithmetic", Severity::Warning, range,
        name + " with these arguments is the double function, called with float values. " + kCost);
    if (fix.edits.size() == literals.size() + 1)
      diagnostic.fixes.push_back(std::move(fix));
    out_.push_back(std::move(diagnostic));
  }

  const RuleInput &input_;
  std::vector<Diagnostic> &out_;
  std::set<Range> reported_;
  std::set<const FloatingLiteral *> covered_; ///< reported with an enclosing expression
};

} // namespace

void check_double_arithmetic(const RuleInput &input, std::vector<Diagnostic> &out) {
  DoubleVisitor visitor(input, out);
  for (Decl *declaration : input.unit.top_level_declarations())
    visitor.TraverseDecl(declaration);
}

} // namespace warpwright::analysis
