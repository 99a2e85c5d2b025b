// Reads the bounds checks in front of the work for one element; see element_work.h.
#include "generator/text/source/element_work.h"

#include "generator/text/source/lanes.h"

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;
using symbolic::Polynomial;
using Kind = ElementCondition::Kind;

namespace {

/// Reads the checks in front of the work for one element.
class CheckReader {
public:
  CheckReader(const IndexReader &form, ElementWork &work, const LaneVariables &lanes)
      : form_(form), work_(work), lanes_(lanes) {}

  /// Splits statements into declarations, checks and work.
  void take(std::vector<const clang::Stmt *> statements);

private:
  void take_declaration(const clang::Stmt *declaration);
  bool is_arithmetic(const clang::Stmt *declaration) const;
  /// Takes the conditions of `condition`, or of its negation, up to the first that is not understood.
  /// False: there is such a condition. The others hold for the work all the same.
  bool take_conditions(const clang::Expr *condition, bool is_negated);
  std::optional<ElementCondition> condition_of(const clang::Expr *condition, bool is_negated) const;
  std::optional<ElementCondition> comparison(const clang::BinaryOperator *binary, bool is_negated) const;

  const IndexReader &form_;
  ElementWork &work_;
  const LaneVariables &lanes_;
};

bool is_plain_return(const clang::IfStmt *branch) {
  const auto then = statements_of(branch->getThen());
  return !branch->getElse() && then.size() == 1 && isa<clang::ReturnStmt>(then.front());
}

bool CheckReader::is_arithmetic(const clang::Stmt *declaration) const {
  const auto variables = variables_of(declaration);
  return !variables.empty() && std::ranges::all_of(variables, [&](const clang::VarDecl *one) {
    return one->hasInit() ? form_.of(one->getInit()) && is_written_once(form_.source(), one)
                          : one->getType()->isScalarType();
  });
}

void CheckReader::take_declaration(const clang::Stmt *declaration) {
  const bool differs = lanes_.differ_in(declaration) ||
                       std::ranges::any_of(variables_of(declaration), [&](const clang::VarDecl *one) {
                         return lanes_.contains(one) || !one->hasInit();
                       });
  (differs ? work_.derived : work_.shared).push_back(declaration);
}

void CheckReader::take(std::vector<const clang::Stmt *> statements) {
  for (std::size_t at = 0; at < statements.size(); ++at) {
    const clang::Stmt *statement = statements[at];
    if (isa<clang::DeclStmt>(statement) && is_arithmetic(statement)) {
      take_declaration(statement);
      continue;
    }
    const auto *check = dyn_cast<clang::IfStmt>(statement);
    const bool is_plain = check && !check->getElse() && !check->hasVarStorage() && !check->hasInitStorage();
    if (is_plain && is_plain_return(check)) {
      if (take_conditions(check->getCond(), true))
        continue;
    } else if (is_plain && at + 1 == statements.size() && take_conditions(check->getCond(), false)) {
      return take(statements_of(check->getThen()));
    }
    work_.work.assign(statements.begin() + static_cast<std::ptrdiff_t>(at), statements.end());
    return;
  }
}

bool CheckReader::take_conditions(const clang::Expr *condition, bool is_negated) {
  const auto *binary = as<clang::BinaryOperator>(condition);
  if (binary && binary->getOpcode() == (is_negated ? clang::BO_LOr : clang::BO_LAnd))
    return take_conditions(binary->getLHS(), is_negated) && take_conditions(binary->getRHS(), is_negated);
  auto found = condition_of(condition, is_negated);
  if (found)
    work_.conditions.push_back(*found);
  return found.has_value();
}

std::optional<ElementCondition> CheckReader::condition_of(const clang::Expr *condition, bool is_negated) const {
  const auto *negation = as<clang::UnaryOperator>(condition);
  if (negation && negation->getOpcode() == clang::UO_LNot)
    return condition_of(negation->getSubExpr(), !is_negated);
  const std::string text = form_.source().text_of(condition);
  if (text.empty() || has_effect(condition))
    return std::nullopt;
  if (!lanes_.differ_in(condition))
    return ElementCondition{Kind::Same, is_negated ? "!(" + text + ")" : parenthesised(text), ""};
  const auto *binary = as<clang::BinaryOperator>(condition);
  return binary && binary->isRelationalOp() ? comparison(binary, is_negated) : std::nullopt;
}

std::optional<ElementCondition> CheckReader::comparison(const clang::BinaryOperator *binary,
                                                        bool is_negated) const {
  auto opcode = is_negated ? clang::BinaryOperator::negateComparisonOp(binary->getOpcode()) : binary->getOpcode();
  const clang::Expr *left = binary->getLHS(), *right = binary->getRHS();
  if (lanes_.differ_in(right)) {
    std::swap(left, right);
    opcode = clang::BinaryOperator::reverseComparisonOp(opcode);
  }
  const auto value = form_.of(left);
  const std::string bound = form_.source().text_of(right);
  if (lanes_.differ_in(right) || !value || bound.empty() || value->coefficient_of("gid.x") != Polynomial(1))
    return std::nullopt;
  const auto rest = wide_text(value->without("gid.x"), work_.derived);
  if (!rest)
    return std::nullopt;
  const bool is_below = opcode == clang::BO_LT || opcode == clang::BO_LE;
  return ElementCondition{is_below ? Kind::Below : Kind::Above, rest->empty() ? "" : *rest + " + ",
                          " " + std::string(clang::BinaryOperator::getOpcodeStr(opcode)) + " " + bound};
}

} // namespace

void take_checks(const IndexReader &form, const std::vector<const clang::Stmt *> &statements, ElementWork &work) {
  const LaneVariables lanes(work.index, statements);
  CheckReader(form, work, lanes).take(statements);
}

namespace {

/// Text of a symbol that is the same for all elements; empty for others.
std::string symbol_text(const std::string &symbol, const std::vector<const clang::Stmt *> &inside) {
  for (const std::string axis : {"y", "z"}) {
    if (symbol == "gid." + axis)
      return "(blockIdx." + axis + " * blockDim." + axis + " + threadIdx." + axis + ")";
    if (symbol == "threadIdx." + axis)
      return symbol;
  }
  if (symbol.starts_with("blockIdx.") || symbol.starts_with("blockDim.") || symbol.starts_with("gridDim."))
    return symbol;
  if (!is_identifier(symbol))
    return {};
  for (const clang::Stmt *statement : inside) {
    for (const auto *declaration : find_all<clang::DeclStmt>(statement))
      for (const clang::VarDecl *variable : variables_of(declaration))
        if (variable->getName() == symbol)
          return {};
    for (const auto *reference : find_all<clang::DeclRefExpr>(statement))
      if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
          variable && variable->getName() == symbol && !writes_of(statement, variable).empty())
        return {};
  }
  return symbol;
}

} // namespace

std::optional<std::string> wide_text(const Polynomial &value, const std::vector<const clang::Stmt *> &inside) {
  std::string text;
  for (const auto &[monomial, coefficient] : value.terms()) {
    std::string term = coefficient == 1 && !monomial.empty() ? "" : "(long long)" + std::to_string(coefficient);
    for (const std::string &symbol : monomial) {
      const std::string factor = symbol_text(symbol, inside);
      if (factor.empty())
        return std::nullopt;
      term += term.empty() ? "(long long)" + factor : " * " + factor;
    }
    if (coefficient < 0)
      term = "(" + term + ")";
    text += (text.empty() ? "" : " + ") + term;
  }
  return text;
}

} // namespace warpwright::source
