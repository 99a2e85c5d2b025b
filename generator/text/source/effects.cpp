// Walks over statements and the functions that they call; see effects.h.
#include "generator/text/source/effects.h"

#include "generator/text/source/combine.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/FoldingSet.h>

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;

namespace {

constexpr int kDeepest = 6; // nesting of calls that is looked into

/// True for functions without a body that do more than to write through their arguments.
bool acts_outside(const std::string &name) {
  for (const char *begin : {"atomic", "printf", "vprintf", "curand", "__threadfence", "__trap", "__brkpt",
                            "__nanosleep", "clock", "globaltimer", "malloc", "free", "memcpy", "memset"})
    if (name.starts_with(begin))
      return true;
  return name.empty();
}

bool is_own(const clang::VarDecl *variable) {
  return variable && variable->isLocalVarDeclOrParm() && !variable->isStaticLocal() &&
         !variable->hasAttr<clang::CUDASharedAttr>();
}

using KnownFunctions = std::map<const clang::FunctionDecl *, Effects>;

/// Collects what one function's code changes. Parameters by reference count as own variables.
class Collector {
public:
  Collector(Effects &effects, KnownFunctions &known, int depth) : effects_(effects), known_(known), depth_(depth) {}

  void add(const clang::Stmt *root) {
    for_each_node(root, [&](const clang::Stmt *node) {
      if (const clang::Expr *lvalue = written_by(node); lvalue && !is_address(node))
        change(lvalue, node);
      if (const auto *call = dyn_cast<clang::CallExpr>(node); call && !written_by(call))
        add_call(call);
      if (isa<clang::AsmStmt>(node) || isa<clang::CXXNewExpr>(node) || isa<clang::CXXDeleteExpr>(node))
        effects_.stores.push_back(node);
    });
    add_pointers(root);
  }

private:
  static bool is_address(const clang::Stmt *node) {
    const auto *unary = dyn_cast<clang::UnaryOperator>(node);
    return unary && unary->getOpcode() == clang::UO_AddrOf;
  }

  /// The lvalue changes: an own variable, or memory.
  void change(const clang::Expr *lvalue, const clang::Stmt *node) {
    if (const clang::VarDecl *variable = root_variable(lvalue); is_own(variable))
      effects_.changed.insert(variable);
    else
      effects_.stores.push_back(node);
  }

  void change_argument(const clang::Expr *argument, const clang::CallExpr *call) {
    argument = strip_casts(argument);
    if (const auto *address = dyn_cast_or_null<clang::UnaryOperator>(argument);
        address && address->getOpcode() == clang::UO_AddrOf)
      argument = address->getSubExpr();
    else if (argument && argument->getType()->isPointerType())
      return effects_.stores.push_back(call);
    if (argument && !isa<clang::CXXNullPtrLiteralExpr>(argument))
      change(argument, call);
  }

  void add_call(const clang::CallExpr *call) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    const std::string name = callee_name(call);
    if (!callee) { // in a template, before its arguments are known
      if (!combine_of_function(name) && !is_known_function(name))
        effects_.stores.push_back(call);
      return;
    }
    const clang::FunctionDecl *definition = nullptr;
    const bool has_body = callee->hasBody(definition) && definition->getBody();
    if (depth_ >= kDeepest)
      return effects_.stores.push_back(call);
    std::set<const clang::VarDecl *> changed;
    if (has_body) {
      const Effects &inner = effects_of_function(definition);
      changed = inner.changed;
      if (!inner.stores.empty() || inner.pointed_to) {
        effects_.stores.push_back(call);
        return change_all(callee, call, {});
      }
    } else if (isa<clang::CXXMethodDecl>(callee) ? !cast<clang::CXXMethodDecl>(callee)->isConst()
                                                 : acts_outside(name) && !isa<clang::CXXOperatorCallExpr>(call)) {
      effects_.stores.push_back(call);
    }
    change_all(definition ? definition : callee, call, has_body ? std::optional(changed) : std::nullopt);
  }

  const Effects &effects_of_function(const clang::FunctionDecl *definition) {
    if (const auto known = known_.find(definition); known != known_.end())
      return known->second;
    Effects inner;
    Collector(inner, known_, depth_ + 1).add(definition->getBody());
    return known_.emplace(definition, std::move(inner)).first->second;
  }

  /// Functions of values alone, by their names.
  static bool is_known_function(const std::string &name) {
    static const std::set<std::string> kNames{"exp", "log", "sqrt", "pow", "abs", "fabs", "sin", "cos", "tanh", "floor",
                                              "ceil", "rsqrt", "__ldg", "fma"};
    return kNames.contains(name);
  }

  /// The own variables that a call may write. @param changed parameters that its body assigns
  void change_all(const clang::FunctionDecl *callee, const clang::CallExpr *call,
                  const std::optional<std::set<const clang::VarDecl *>> &changed) {
    const unsigned skipped = isa<clang::CXXOperatorCallExpr>(call) && isa<clang::CXXMethodDecl>(callee) ? 1 : 0;
    for (unsigned i = 0; i < callee->getNumParams() && i + skipped < call->getNumArgs(); ++i) {
      const clang::ParmVarDecl *parameter = callee->getParamDecl(i);
      const clang::QualType type = parameter->getType();
      const bool leads_out = (type->isReferenceType() || type->isPointerType()) &&
                             !type->getPointeeType().isConstQualified();
      // A body that stores through no pointer changes only its references.
      if (leads_out && (!changed || (type->isReferenceType() && changed->contains(parameter))))
        change_argument(call->getArg(i + skipped), call);
    }
  }

  /// Looks for pointers to own variables that outlive an expression.
  void add_pointers(const clang::Stmt *root) {
    std::set<const clang::Expr *> allowed;
    for_each_node(root, [&](const clang::Stmt *node) {
      if (const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(node))
        allowed.insert(strip(subscript->getBase()));
      if (const auto *call = dyn_cast<clang::CallExpr>(node))
        for (const clang::Expr *argument : call->arguments())
          allowed.insert(strip_casts(argument));
    });
    for_each_node(root, [&](const clang::Stmt *node) {
      const auto *expression = dyn_cast<clang::Expr>(node);
      if (!expression || allowed.contains(expression))
        return;
      const clang::VarDecl *variable = nullptr;
      if (is_address(node))
        variable = root_variable(cast<clang::UnaryOperator>(node)->getSubExpr());
      else if (const auto *cast = dyn_cast<clang::ImplicitCastExpr>(node);
               cast && cast->getCastKind() == clang::CK_ArrayToPointerDecay && !allowed.contains(strip(cast)))
        variable = root_variable(cast->getSubExpr());
      if (is_own(variable))
        effects_.pointed_to = variable;
    });
  }

  Effects &effects_;
  KnownFunctions &known_;
  const int depth_;
};

} // namespace

const clang::VarDecl *named_root(const clang::Expr *lvalue) {
  for (;;) {
    lvalue = strip(lvalue);
    if (const auto *element = dyn_cast_or_null<clang::ArraySubscriptExpr>(lvalue)) {
      if (!strip(element->getBase())->getType()->isArrayType())
        return nullptr;
      lvalue = element->getBase();
    } else if (const auto *member = dyn_cast_or_null<clang::MemberExpr>(lvalue); member && !member->isArrow()) {
      lvalue = member->getBase();
    } else {
      const clang::VarDecl *variable = variable_of(lvalue);
      return variable && variable->isLocalVarDeclOrParm() ? variable : nullptr;
    }
  }
}

const clang::VarDecl *root_variable(const clang::Expr *lvalue) {
  const clang::VarDecl *variable = named_root(lvalue);
  while (variable && variable->getType()->isReferenceType() && !isa<clang::ParmVarDecl>(variable))
    variable = named_root(variable->getInit());
  return variable;
}

const clang::VarDecl *pointer_root(const clang::Expr *expression) {
  for (;;) {
    expression = strip_casts(expression);
    if (const auto *subscript = dyn_cast_or_null<clang::ArraySubscriptExpr>(expression)) {
      expression = subscript->getBase();
    } else if (const auto *member = dyn_cast_or_null<clang::MemberExpr>(expression)) {
      expression = member->getBase();
    } else if (const auto *unary = dyn_cast_or_null<clang::UnaryOperator>(expression)) {
      expression = unary->getSubExpr();
    } else if (const auto *binary = dyn_cast_or_null<clang::BinaryOperator>(expression);
               binary && binary->isAdditiveOp()) {
      expression = binary->getLHS()->getType()->isPointerType() ? binary->getLHS() : binary->getRHS();
    } else {
      return variable_of(expression);
    }
  }
}

const clang::VarDecl *array_of(const KernelSource &source, const clang::Expr *expression) {
  const clang::VarDecl *root = pointer_root(expression);
  for (int depth = 0; root && depth < kDeepest; ++depth) {
    if (!root->isLocalVarDecl() || !root->getType()->isPointerType() || !root->hasInit() ||
        !is_written_once(source, root))
      return root;
    root = pointer_root(root->getInit());
  }
  return root;
}

const clang::Expr *written_by(const clang::Stmt *node) {
  if (const auto *binary = dyn_cast<clang::BinaryOperator>(node); binary && binary->isAssignmentOp())
    return binary->getLHS();
  if (const auto *unary = dyn_cast<clang::UnaryOperator>(node); unary && writes_operand(unary))
    return unary->getSubExpr();
  if (const auto *call = dyn_cast<clang::CXXOperatorCallExpr>(node); call && call->getOperator() == clang::OO_Equal) {
    const auto *method = dyn_cast_or_null<clang::CXXMethodDecl>(call->getDirectCallee());
    if (method && method->isTrivial()) // the assignment of a plain record
      return call->getArg(0);
  }
  return nullptr;
}

bool same_expression(const KernelSource &source, const clang::Expr *left, const clang::Expr *right) {
  llvm::FoldingSetNodeID a, b;
  strip(left)->Profile(a, source.unit().context(), true);
  strip(right)->Profile(b, source.unit().context(), true);
  return a == b;
}

Effects effects_of(const clang::Stmt *root) {
  Effects effects;
  KnownFunctions known;
  Collector(effects, known, 0).add(root);
  return effects;
}

bool is_invariant(const clang::Stmt *loop, const clang::Expr *expression) {
  if (!find_all<clang::CallExpr>(expression).empty())
    return false;
  const auto loop_range = loop->getSourceRange();
  for (const auto *reference : find_all<clang::DeclRefExpr>(expression)) {
    const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
    if (!variable)
      return false;
    const auto declared = variable->getLocation();
    if (!(declared < loop_range.getBegin() || loop_range.getEnd() < declared) ||
        !writes_of(loop, variable).empty())
      return false;
  }
  return true;
}

namespace {

std::string callee_with_position(const clang::Stmt *root, std::set<const clang::FunctionDecl *> &seen) {
  std::string found;
  for (const auto *call : find_all<clang::CallExpr>(root)) {
    const clang::FunctionDecl *callee = call->getDirectCallee();
    callee = callee ? callee->getDefinition() : nullptr;
    if (!callee || !callee->getBody() || !seen.insert(callee).second)
      continue;
    bool uses = false;
    for (const auto *reference : find_all<clang::DeclRefExpr>(callee->getBody()))
      if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl()); variable && variable->getIdentifier())
        uses |= variable->getName() == "threadIdx" || variable->getName() == "blockIdx" ||
                variable->getName() == "blockDim" || variable->getName() == "gridDim";
    if (uses)
      return callee->getNameAsString();
    if (found.empty())
      found = callee_with_position(callee->getBody(), seen);
  }
  return found;
}

} // namespace

std::string callee_with_position(const clang::Stmt *root) {
  std::set<const clang::FunctionDecl *> seen;
  return callee_with_position(root, seen);
}

} // namespace warpwright::source
