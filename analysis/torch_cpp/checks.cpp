// Shape facts from the checks at the top of a function: TORCH_CHECK(x.dim() == 2), x.size(1) ==
// w.size(0), sizes(), scalar_type.
//
// Only checks that run in every call count; checks under a condition or in a loop are left out.
#include "analysis/torch_cpp/functions.h"

#include <clang/Lex/Lexer.h>

namespace warpwright::analysis::torch_cpp {
namespace {

using llvm::dyn_cast;

/// A number in a check.
struct Term {
  std::optional<std::int64_t> value;
  std::string tensor; ///< the tensor if the number is one of its dimensions or its rank
  std::optional<std::int64_t> dim;
  bool is_rank = false;
};

const clang::Expr *plain(const clang::Expr *expression) {
  for (;;) {
    const clang::Expr *before = expression;
    expression = expression->IgnoreParenCasts();
    if (const auto *full = dyn_cast<clang::FullExpr>(expression))
      expression = full->getSubExpr();
    if (const auto *temporary = dyn_cast<clang::MaterializeTemporaryExpr>(expression))
      expression = temporary->getSubExpr();
    if (const auto *bound = dyn_cast<clang::CXXBindTemporaryExpr>(expression))
      expression = bound->getSubExpr();
    if (const auto *construction = dyn_cast<clang::CXXConstructExpr>(expression);
        construction && construction->getNumArgs() == 1)
      expression = construction->getArg(0);
    if (const auto *list = dyn_cast<clang::CXXStdInitializerListExpr>(expression))
      expression = list->getSubExpr();
    if (expression == before)
      return expression;
  }
}

class Checks {
public:
  Checks(const ParsedUnit &unit, std::map<std::string, ShapeFacts> facts,
         const symbolic::Sizes &numbers)
      : unit_(unit), facts_(std::move(facts)), numbers_(numbers) {}

  std::map<std::string, ShapeFacts> solve(const clang::Stmt *body) {
    // Repeats, because an equation may depend on a later one.
    for (int round = 0; round < 8; ++round) {
      changed_ = false;
      read(body);
      if (!changed_)
        break;
    }
    return std::move(facts_);
  }

private:
  void read(const clang::Stmt *statement) {
    if (!statement)
      return;
    if (const auto *block = dyn_cast<clang::CompoundStmt>(statement))
      for (const clang::Stmt *part : block->body())
        read(part);
    else if (const auto *once = dyn_cast<clang::DoStmt>(statement)) // the `do { ... } while (0)` of
                                                                    // a macro
      read(once->getBody());
    else if (const auto *expression = dyn_cast<clang::Expr>(statement))
      is_assertion(unit_, *expression) ? holds(expression) : read_expression(plain(expression));
  }

  void read_expression(const clang::Expr *expression) {
    if (const auto *pair = dyn_cast<clang::BinaryOperator>(expression);
        pair && pair->getOpcode() == clang::BO_Comma) {
      read_expression(plain(pair->getLHS()));
      return read_expression(plain(pair->getRHS()));
    }
    const auto *call = dyn_cast<clang::CallExpr>(expression);
    const clang::FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
    if (callee && callee->getName() == "ww_check" && call->getNumArgs() == 1)
      holds(plain(call->getArg(0)));
    else if (callee && callee->getReturnType()->isVoidType() && callee->hasBody())
      read_helper(*callee, *call);
  }

  /// Reads a function of the file that checks its arguments.
  void read_helper(const clang::FunctionDecl &function, const clang::CallExpr &call) {
    if (depth_ > 4)
      return;
    const clang::FunctionDecl *definition = nullptr;
    function.hasBody(definition);
    const auto before = aliases_;
    for (unsigned i = 0; i < definition->getNumParams() && i < call.getNumArgs(); ++i)
      if (const std::string name = tensor_of(plain(call.getArg(i))); !name.empty())
        aliases_[definition->getParamDecl(i)] = name;
    ++depth_;
    read(definition->getBody());
    --depth_;
    aliases_ = before;
  }

  void holds(const clang::Expr *condition) {
    condition = plain(condition);
    if (const auto *operation = dyn_cast<clang::BinaryOperator>(condition)) {
      if (operation->getOpcode() == clang::BO_LAnd) {
        holds(operation->getLHS());
        holds(operation->getRHS());
      } else if (operation->getOpcode() == clang::BO_EQ) {
        equal(plain(operation->getLHS()), plain(operation->getRHS()));
      }
    } else if (const auto *operation = dyn_cast<clang::CXXOperatorCallExpr>(condition)) {
      if (operation->getOperator() == clang::OO_EqualEqual && operation->getNumArgs() == 2)
        equal(plain(operation->getArg(0)), plain(operation->getArg(1)));
    }
  }

  void equal(const clang::Expr *left, const clang::Expr *right) {
    for (const auto &[one, other] : {std::pair{left, right}, std::pair{right, left}}) {
      if (const std::string tensor = member_of(one, {"scalar_type", "dtype", "type"});
          !tensor.empty())
        same_dtype(tensor, other);
      if (const std::string tensor = member_of(one, {"sizes"}); !tensor.empty())
        same_sizes(tensor, other);
      const Term a = term(one), b = term(other);
      if (const auto value = value_of(b))
        is(a, *value);
    }
  }

  void same_dtype(const std::string &tensor, const clang::Expr *other) {
    std::optional<model::Dtype> dtype;
    if (const std::string like = member_of(other, {"scalar_type", "dtype", "type"}); !like.empty())
      dtype = facts_[like].dtype;
    if (const Value value = constant(unit_, *other); value.as<model::Dtype>())
      dtype = *value.as<model::Dtype>();
    if (dtype && !facts_[tensor].dtype) {
      facts_[tensor].dtype = dtype;
      changed_ = true;
    }
  }

  void same_sizes(const std::string &tensor, const clang::Expr *other) {
    if (const std::string like = member_of(other, {"sizes"}); !like.empty()) {
      const ShapeFacts from = facts_[like];
      if (from.rank)
        is({.tensor = tensor, .is_rank = true}, *from.rank);
      for (const auto &[dim, extent] : from.extents)
        is({.tensor = tensor, .dim = dim}, extent);
    } else if (const auto *list = dyn_cast<clang::InitListExpr>(other)) {
      is({.tensor = tensor, .is_rank = true}, list->getNumInits());
      for (unsigned i = 0; i < list->getNumInits(); ++i)
        if (const auto value = value_of(term(plain(list->getInit(i)))))
          is({.tensor = tensor, .dim = i}, *value);
    }
  }

  void is(const Term &term, std::int64_t value) {
    constexpr std::int64_t kMostRank = 64;
    if (term.tensor.empty() || value < 0 || (term.is_rank && value > kMostRank))
      return;
    ShapeFacts &facts = facts_[term.tensor];
    if (term.is_rank && !facts.rank) {
      facts.rank = value;
      changed_ = true;
    }
    std::optional<std::int64_t> dim = term.dim;
    if (dim && *dim < 0)
      dim = facts.rank ? std::optional(*dim + *facts.rank) : std::nullopt;
    if (dim && *dim >= 0 && facts.extents.emplace(*dim, value).second)
      changed_ = true;
  }

  std::optional<std::int64_t> value_of(const Term &term) {
    if (term.value || term.tensor.empty())
      return term.value;
    const ShapeFacts &facts = facts_[term.tensor];
    if (term.is_rank)
      return facts.rank;
    std::int64_t dim = term.dim.value_or(0);
    if (dim < 0)
      dim += facts.rank.value_or(0);
    const auto known = facts.extents.find(dim);
    return known == facts.extents.end() ? std::nullopt : std::optional(known->second);
  }

  Term term(const clang::Expr *expression) {
    expression = plain(expression);
    clang::Expr::EvalResult result;
    if (!expression->isValueDependent() && !expression->containsErrors() &&
        expression->getType()->isIntegralOrEnumerationType() &&
        expression->EvaluateAsInt(result, unit_.context()))
      return {.value = result.Val.getInt().getExtValue()};
    if (const std::string tensor = member_of(expression, {"dim", "ndimension"}); !tensor.empty())
      return {.tensor = tensor, .is_rank = true};
    const auto *call = dyn_cast<clang::CXXMemberCallExpr>(expression);
    if (const std::string tensor = member_of(expression, {"size"});
        !tensor.empty() && call->getNumArgs() == 1)
      return dimension(tensor, call->getArg(0));
    if (const auto *subscript = dyn_cast<clang::CXXOperatorCallExpr>(expression);
        subscript && subscript->getOperator() == clang::OO_Subscript)
      if (const std::string tensor = member_of(plain(subscript->getArg(0)), {"sizes"});
          !tensor.empty())
        return dimension(tensor, subscript->getArg(1));
    if (const auto *reference = dyn_cast<clang::DeclRefExpr>(expression)) {
      if (const auto number = numbers_.find(reference->getDecl()->getNameAsString());
          llvm::isa<clang::ParmVarDecl>(reference->getDecl()) && number != numbers_.end())
        return {.value = number->second};
      if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
          variable && variable->getInit() && !llvm::isa<clang::ParmVarDecl>(variable))
        return term(variable->getInit());
    }
    return {};
  }

  Term dimension(const std::string &tensor, const clang::Expr *index) {
    const Term place = term(index);
    return place.value ? Term{.tensor = tensor, .dim = place.value} : Term{};
  }

  /// "x" for `x.size(1)` if the called member is one of `members`; otherwise empty.
  std::string member_of(const clang::Expr *expression,
                        std::initializer_list<const char *> members) {
    const auto *call = dyn_cast<clang::CXXMemberCallExpr>(plain(expression));
    if (!call || !call->getMethodDecl())
      return {};
    for (const char *member : members)
      if (call->getMethodDecl()->getNameAsString() == member)
        return tensor_of(plain(call->getImplicitObjectArgument()));
    return {};
  }

  std::string tensor_of(const clang::Expr *expression) {
    const auto *reference = dyn_cast<clang::DeclRefExpr>(expression);
    if (!reference || !is_tensor(reference->getDecl()->getType()))
      return {};
    if (const auto alias = aliases_.find(reference->getDecl()); alias != aliases_.end())
      return alias->second;
    return llvm::isa<clang::ParmVarDecl>(reference->getDecl()) && depth_ == 0
               ? reference->getDecl()->getNameAsString()
               : std::string();
  }

  const ParsedUnit &unit_;
  std::map<std::string, ShapeFacts> facts_;
  const symbolic::Sizes &numbers_;
  std::map<const clang::ValueDecl *, std::string> aliases_;
  bool changed_ = false;
  int depth_ = 0;
};

} // namespace

bool is_assertion(const ParsedUnit &unit, const clang::Expr &statement) {
  return statement.getBeginLoc().isMacroID() && statement.getType()->isVoidType() &&
         clang::Lexer::getImmediateMacroName(statement.getBeginLoc(), unit.sources(),
                                             unit.context().getLangOpts()) == "assert";
}

std::map<std::string, ShapeFacts> shapes_from_checks(const ParsedUnit &unit,
                                                     const clang::FunctionDecl &function,
                                                     const std::map<std::string, ShapeFacts> &known,
                                                     const symbolic::Sizes &numbers) {
  return Checks(unit, known, numbers).solve(function.getBody());
}

} // namespace warpwright::analysis::torch_cpp
