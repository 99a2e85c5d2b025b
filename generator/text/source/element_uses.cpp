// A walk over statements with the role and the certainty of each access; see element_uses.h.
#include "generator/text/source/element_uses.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;
using Role = ElementUse::Role;

namespace {

class UseWalk {
public:
  explicit UseWalk(const IndexReader &form) : form_(form) {}

  void walk(const std::vector<const clang::Stmt *> &statements, bool is_conditional);
  std::vector<ElementUse> take() { return std::move(uses_); }

private:
  void visit(const clang::Stmt *node, Role role, bool is_conditional);
  /// Visits what control flow may leave out. False: the node is not control flow.
  bool visit_flow(const clang::Stmt *node, Role role, bool is_conditional);
  void visit_call(const clang::CallExpr *call, bool is_conditional);
  bool visit_operator(const clang::Stmt *node, Role role, bool is_conditional);
  void children(const clang::Stmt *node, Role role, bool is_conditional) {
    for (const clang::Stmt *child : node->children())
      visit(child, role, is_conditional);
  }

  const IndexReader &form_;
  std::vector<ElementUse> uses_;
};

bool may_leave(const clang::Stmt *root) {
  return !find_all<clang::ReturnStmt>(root).empty() || !find_all<clang::BreakStmt>(root).empty() ||
         !find_all<clang::ContinueStmt>(root).empty() || !find_all<clang::GotoStmt>(root).empty();
}

bool is_changeable_reference(clang::QualType type) {
  return type->isReferenceType() && !type->getPointeeType().isConstQualified();
}

void UseWalk::walk(const std::vector<const clang::Stmt *> &statements, bool is_conditional) {
  for (const clang::Stmt *statement : statements) {
    visit(statement, Role::Read, is_conditional);
    is_conditional |= may_leave(statement);
  }
}

bool UseWalk::visit_flow(const clang::Stmt *node, Role role, bool is_conditional) {
  if (const auto *compound = dyn_cast<clang::CompoundStmt>(node)) {
    walk(statements_of(compound), is_conditional);
    return true;
  }
  if (const auto *branch = dyn_cast<clang::IfStmt>(node)) {
    for (const clang::Stmt *child : branch->children())
      visit(child, Role::Read, is_conditional || child == branch->getThen() || child == branch->getElse());
    return true;
  }
  if (const auto *choice = dyn_cast<clang::ConditionalOperator>(node)) {
    visit(choice->getCond(), Role::Read, is_conditional);
    visit(choice->getTrueExpr(), role, true);
    visit(choice->getFalseExpr(), role, true);
    return true;
  }
  if (isa<clang::ForStmt>(node) || isa<clang::WhileStmt>(node) || isa<clang::DoStmt>(node) ||
      isa<clang::SwitchStmt>(node) || isa<clang::CXXForRangeStmt>(node)) {
    children(node, Role::Read, true);
    return true;
  }
  if (isa<clang::LambdaExpr>(node)) {
    children(node, Role::Other, true);
    return true;
  }
  return false;
}

void UseWalk::visit_call(const clang::CallExpr *call, bool is_conditional) {
  const auto *overloaded = dyn_cast<clang::CXXOperatorCallExpr>(call);
  const clang::FunctionDecl *callee = call->getDirectCallee();
  if (const auto *method = dyn_cast<clang::CXXMemberCallExpr>(call))
    visit(method->getImplicitObjectArgument(), Role::Other, is_conditional);
  else if (!callee)
    children(call->getCallee(), Role::Other, is_conditional);
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    Role role = Role::Read;
    const unsigned parameter = overloaded && isa_and_nonnull<clang::CXXMethodDecl>(callee) ? i - 1 : i;
    if (overloaded && i == 0 && overloaded->isAssignmentOp())
      role = overloaded->getOperator() == clang::OO_Equal ? Role::Write : Role::Update;
    else if (overloaded && i == 0 && isa_and_nonnull<clang::CXXMethodDecl>(callee))
      role = cast<clang::CXXMethodDecl>(callee)->isConst() ? Role::Read : Role::Other;
    else if (callee && parameter < callee->getNumParams() &&
             is_changeable_reference(callee->getParamDecl(parameter)->getType()))
      role = Role::Other;
    else if (!callee && callee_name(call).contains("swap"))
      role = Role::Other;
    visit(call->getArg(i), role, is_conditional);
  }
}

bool UseWalk::visit_operator(const clang::Stmt *node, Role role, bool is_conditional) {
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(node)) {
    if (!binary->isAssignmentOp() && !binary->isLogicalOp())
      return false;
    const bool is_plain = binary->getOpcode() == clang::BO_Assign;
    visit(binary->getLHS(), !binary->isAssignmentOp() ? Role::Read : is_plain ? Role::Write : Role::Update,
          is_conditional);
    visit(binary->getRHS(), Role::Read, is_conditional || binary->isLogicalOp());
    return true;
  }
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(node)) {
    if (unary->getOpcode() == clang::UO_AddrOf)
      visit(unary->getSubExpr(), Role::Other, is_conditional);
    else
      visit(unary->getSubExpr(), unary->isIncrementDecrementOp() ? Role::Update : Role::Read, is_conditional);
    return true;
  }
  if (const auto *member = dyn_cast<clang::MemberExpr>(node); member && !member->isArrow()) {
    visit(member->getBase(), role == Role::Write ? Role::Update : role, is_conditional);
    return true;
  }
  if (isa<clang::CXXDependentScopeMemberExpr>(node) && role != Role::Read) {
    children(node, Role::Update, is_conditional);
    return true;
  }
  if (const auto *declaration = dyn_cast<clang::DeclStmt>(node)) {
    for (const clang::VarDecl *variable : variables_of(declaration))
      if (variable->hasInit())
        visit(variable->getInit(), variable->getType()->isReferenceType() ? Role::Other : Role::Read, is_conditional);
    return true;
  }
  return false;
}

void UseWalk::visit(const clang::Stmt *node, Role role, bool is_conditional) {
  if (!node)
    return;
  if (const auto *pseudo = dyn_cast<clang::PseudoObjectExpr>(node))
    return visit(pseudo->getSyntacticForm(), role, is_conditional);
  const auto *expression = dyn_cast<clang::Expr>(node);
  if (isa<clang::ArraySubscriptExpr>(node) || isa<clang::UnaryOperator>(node))
    if (auto access = form_.access(expression)) {
      uses_.push_back({std::move(*access), role, is_conditional});
      return children(node, Role::Read, is_conditional);
    }
  if (const auto *call = dyn_cast<clang::CallExpr>(node))
    return visit_call(call, is_conditional);
  if (isa<clang::RecoveryExpr>(node)) // an operator or call without a known declaration
    return children(node, Role::Other, is_conditional);
  if (visit_flow(node, role, is_conditional) || visit_operator(node, role, is_conditional))
    return;
  const bool keeps_role = isa<clang::ParenExpr>(node) || isa<clang::CastExpr>(node) ||
                          isa<clang::ExprWithCleanups>(node) || isa<clang::MaterializeTemporaryExpr>(node);
  children(node, keeps_role ? role : Role::Read, is_conditional);
}

/// The pointer part of an access.
const clang::Expr *pointer_of(const clang::Expr *access) {
  if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(strip(access)))
    return subscript->getBase();
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(strip(access)))
    return unary->getSubExpr();
  return nullptr;
}

} // namespace

std::vector<ElementUse> element_uses(const IndexReader &form, const std::vector<const clang::Stmt *> &statements) {
  UseWalk walk(form);
  walk.walk(statements, false);
  return walk.take();
}

bool is_only_accessed(const IndexReader &form, const clang::ParmVarDecl *parameter) {
  const clang::CompoundStmt *body = form.source().body();
  std::set<const clang::DeclRefExpr *> known;
  const auto know = [&](const clang::Stmt *root) {
    for (const auto *reference : find_all<clang::DeclRefExpr>(root))
      known.insert(reference);
  };
  for (const ElementAccess &access : form.accesses(body))
    know(pointer_of(access.expression));
  for (const auto *cast : find_all<clang::CastExpr>(body)) // a test of its alignment
    if (cast->getType()->isIntegerType() && cast->getSubExpr()->getType()->isPointerType())
      know(cast->getSubExpr());
  // The parameter and the local pointers that are set from it.
  std::vector<const clang::VarDecl *> pointers{parameter};
  for (std::size_t i = 0; i < pointers.size(); ++i)
    for (const auto *declaration : find_all<clang::DeclStmt>(body))
      for (const clang::VarDecl *variable : variables_of(declaration))
        if (variable->getType()->isPointerType() && variable->hasInit() &&
            !uses_of(variable->getInit(), pointers[i]).empty() && is_written_once(form.source(), variable) &&
            std::ranges::find(pointers, variable) == pointers.end()) {
          know(variable->getInit());
          pointers.push_back(variable);
        }
  return std::ranges::all_of(pointers, [&](const clang::VarDecl *pointer) {
    return std::ranges::all_of(uses_of(body, pointer), [&](const auto *use) { return known.contains(use); });
  });
}

} // namespace warpwright::source
