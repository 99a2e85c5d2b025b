// Places that a loop stores to, as polynomials of its counter; see loop_memory.h.
#include "generator/text/lift/loop_memory.h"

#include "support/text.h"

#include <clang/AST/ParentMapContext.h>

#include <algorithm>
#include <cstdlib>

namespace warpwright::lift {

using clang::dyn_cast;
using symbolic::Polynomial;

namespace {

/// The names of variables that may differ between two iterations.
std::set<std::string> varying_names(const ParallelLoop &loop) {
  std::set<std::string> names;
  for (const auto *statement : source::find_all<clang::DeclStmt>(loop.loop->getBody()))
    for (const clang::VarDecl *variable : source::variables_of(statement))
      names.insert(variable->getNameAsString());
  for (const clang::VarDecl *variable : loop.effects.changed)
    names.insert(variable->getNameAsString());
  return names;
}

/// The extents of loops `for (int k = 0; k < extent; ++k)` below a statement, by their counters.
std::map<std::string, Polynomial> inner_extents(const source::IndexReader &form, const clang::Stmt *root) {
  std::map<std::string, Polynomial> extents;
  for (const auto *inner : source::find_all<clang::ForStmt>(root))
    if (const clang::VarDecl *counter = source::only_variable(inner->getInit()); counter && counter->hasInit()) {
      const auto *condition = source::as<clang::BinaryOperator>(inner->getCond());
      const auto end = condition && condition->getOpcode() == clang::BO_LT &&
                               source::variable_of(condition->getLHS()) == counter && source::is_zero(counter->getInit())
                           ? form.of(condition->getRHS())
                           : std::nullopt;
      const std::string name = counter->getNameAsString();
      if (!end || extents.contains(name))
        extents.erase(name);
      else
        extents.emplace(name, *end);
    }
  return extents;
}

/// True if places of two iterations never meet.
bool are_apart(const std::vector<Polynomial> &places, const std::string &counter, const std::set<std::string> &varying,
               const std::map<std::string, Polynomial> &extents) {
  const Polynomial stride = places.front().coefficient_of(counter);
  if (stride.is_zero())
    return false;
  const auto mentions_any = [&](const Polynomial &value, const std::set<std::string> &names) {
    return std::ranges::any_of(value.symbols(), [&](const std::string &symbol) {
      return std::ranges::any_of(names, [&](const std::string &name) { return mentions(symbol, name); });
    });
  };
  if (mentions_any(stride, varying) || mentions_any(stride, {counter}))
    return false;
  const Polynomial first = places.front().without(counter);
  for (const Polynomial &place : places) {
    if (place.coefficient_of(counter) != stride)
      return false;
    Polynomial rest = place.without(counter);
    for (const auto &[name, extent] : extents) // counter * K + k, where k runs below K
      if (rest.coefficient_of(name) == Polynomial(1) && extent == stride && places.size() == 1)
        rest = rest.without(name);
    if (mentions_any(rest, varying) || mentions_any(rest, {counter}))
      return false;
    const auto distance = (rest - first).number(), apart = stride.number();
    if (place != places.front() && !(distance && apart && std::abs(*distance) < std::abs(*apart)))
      return false;
  }
  return true;
}

/// The lvalue of a node that stores, as an element; nullopt for what is none.
std::optional<source::ElementAccess> stored_element(const source::IndexReader &form, const clang::Stmt *node) {
  const clang::Expr *lvalue = source::strip(source::written_by(node));
  while (const auto *member = dyn_cast_or_null<clang::MemberExpr>(lvalue)) {
    if (member->isArrow())
      return std::nullopt;
    lvalue = source::strip(member->getBase());
  }
  return lvalue ? form.access(lvalue) : std::nullopt;
}

/// The element accesses below a statement, without members of them.
std::vector<const clang::Expr *> dereferences(const clang::Stmt *root) {
  std::vector<const clang::Expr *> found;
  source::for_each_node(root, [&](const clang::Stmt *node) {
    const auto *unary = dyn_cast<clang::UnaryOperator>(node);
    const auto *member = dyn_cast<clang::MemberExpr>(node);
    const auto *subscript = dyn_cast<clang::ArraySubscriptExpr>(node);
    if ((unary && unary->getOpcode() == clang::UO_Deref) || (member && member->isArrow()) ||
        (subscript && !source::root_variable(subscript)))
      found.push_back(llvm::cast<clang::Expr>(node));
  });
  return found;
}

Result<void> check_array(const source::IndexReader &form, const ParallelLoop &loop, const clang::VarDecl *base) {
  const std::string name = base->getNameAsString();
  std::vector<Polynomial> places;
  for (const clang::Expr *element : dereferences(loop.loop)) {
    const auto access = form.access(element);
    const clang::VarDecl *root = access ? access->base : source::array_of(form.source(), element);
    if (access && access->base == base) {
      if (std::ranges::find(places, access->index) == places.end())
        places.push_back(access->index);
    } else if (!root || root == base || (!access && root->isLocalVarDecl() && root->getType()->isPointerType())) {
      return fail("a loop stores to " + name + " and may read it elsewhere");
    }
  }
  for (const auto *call : source::find_all<clang::CallExpr>(loop.loop))
    for (const clang::Expr *argument : call->arguments())
      if (argument->getType()->isPointerType() && source::array_of(form.source(), argument) == base)
        return fail("a loop stores to " + name + " and passes it to a function");
  if (places.empty() || !are_apart(places, loop.counter->getNameAsString(), varying_names(loop),
                                   inner_extents(form, loop.loop->getBody())))
    return fail("iterations of a loop may store to the same element of " + name);
  return {};
}

} // namespace

bool is_plain_atomic(const clang::Stmt *root, const clang::Stmt *node) {
  const auto *call = dyn_cast<clang::CallExpr>(node);
  if (!call || !source::callee_name(call).starts_with("atomic"))
    return false;
  bool is_alone = false; // a statement of its own
  const auto look = [&](const clang::Stmt *statement) {
    const auto *expression = dyn_cast_or_null<clang::Expr>(statement);
    is_alone |= expression && source::strip(expression) == call;
  };
  source::for_each_node(root, [&](const clang::Stmt *parent) {
    if (llvm::isa<clang::CompoundStmt>(parent))
      std::ranges::for_each(parent->children(), look);
    else if (const auto *branch = dyn_cast<clang::IfStmt>(parent))
      for (const clang::Stmt *part : {branch->getThen(), branch->getElse()})
        look(part);
    else if (const auto *loop = dyn_cast<clang::ForStmt>(parent))
      look(loop->getBody());
    else if (const auto *conditional = dyn_cast<clang::WhileStmt>(parent))
      look(conditional->getBody());
  });
  return is_alone;
}

Result<void> check_memory(const source::IndexReader &form, const ParallelLoop &loop) {
  std::set<const clang::VarDecl *> arrays, atomics;
  for (const clang::Stmt *node : loop.effects.stores) {
    if (is_plain_atomic(loop.loop, node)) {
      const clang::VarDecl *base = source::array_of(form.source(), llvm::cast<clang::CallExpr>(node)->getArg(0));
      if (!base)
        return fail("the place of an atomic operation in a loop is not known");
      atomics.insert(base);
      continue;
    }
    if (const auto *call = dyn_cast<clang::CallExpr>(node); call && !source::written_by(call))
      return fail("a loop calls " + source::callee_name(call) + ", which may store");
    const auto element = stored_element(form, node);
    if (!element)
      return fail("a loop stores to a place that depends on data");
    arrays.insert(element->base);
  }
  for (const clang::VarDecl *base : arrays)
    if (atomics.contains(base))
      return fail("a loop stores to " + base->getNameAsString() + " in two ways");
    else if (auto checked = check_array(form, loop, base); !checked)
      return checked;
  for (const clang::VarDecl *base : atomics)
    for (const clang::Expr *element : dereferences(loop.loop))
      if (const auto access = form.access(element); (access ? access->base : source::array_of(form.source(), element)) == base) {
        bool is_argument = false;
        for (const clang::Stmt *node : loop.effects.stores)
          if (const auto *call = dyn_cast<clang::CallExpr>(node); call && call->getNumArgs() > 0)
            source::for_each_node(call->getArg(0), [&](const clang::Stmt *part) { is_argument |= part == element; });
        if (!is_argument)
          return fail("a loop reads " + base->getNameAsString() + ", which it changes by atomic operations");
      }
  return {};
}

} // namespace warpwright::lift
