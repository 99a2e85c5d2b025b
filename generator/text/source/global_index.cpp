// Search for uses of a thread's place; see global_index.h.
#include "generator/text/source/global_index.h"

#include "generator/text/source/effects.h"
#include "generator/text/source/thread_places.h"

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;

namespace {

/// The variable that is set once, to a built-in place.
bool is_name_of_place(const KernelSource &source, const clang::VarDecl *variable) {
  return variable && variable->hasInit() && variable->isLocalVarDecl() &&
         !builtin_of(strip_casts(variable->getInit())).empty() && is_written_once(source, variable);
}

/// The built-in places in an expression, also by names of places.
std::set<std::string> places_in(const KernelSource &source, const clang::Expr *expression) {
  std::set<std::string> found;
  for (const auto *member : find_all<clang::MemberExpr>(expression))
    if (const std::string place = builtin_of(member); !place.empty())
      found.insert(place);
  for (const auto *reference : find_all<clang::DeclRefExpr>(expression))
    if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl()); is_name_of_place(source, variable))
      found.insert(builtin_of(strip_casts(variable->getInit())));
  return found;
}

class Uses {
public:
  explicit Uses(const IndexReader &form) : form_(form), source_(form.source()) {}

  Result<GlobalIndex> find() {
    for_each_node(source_.body(), [&](const clang::Stmt *node) {
      const auto *binary = dyn_cast<clang::BinaryOperator>(node);
      for (int axis = 0; binary && axis < 3; ++axis) {
        const std::string name(1, "xyz"[axis]);
        if (binary->isRelationalOp())
          found_.is_bounded[axis] = found_.is_bounded[axis] || is_index(binary->getLHS(), name) || is_index(binary->getRHS(), name);
        else if (!covered_.contains(node))
          cover(binary, axis, name);
      }
    });
    for (const auto *statement : find_all<clang::DeclStmt>(source_.body()))
      for (const clang::VarDecl *variable : variables_of(statement))
        if (is_name_of_place(source_, variable) && is_covered(uses_of(source_.body(), variable)))
          cover_all(variable->getInit());
    for (const auto *member : find_all<clang::MemberExpr>(source_.body()))
      if (!builtin_of(member).empty() && !covered_.contains(member))
        return fail("the kernel uses its place in the grid apart from the index");
    return found_;
  }

private:
  bool is_index(const clang::Expr *expression, const std::string &axis) const {
    return form_.of(expression) == symbolic::Polynomial::symbol("gid." + axis);
  }

  void cover_all(const clang::Stmt *root) {
    for_each_node(root, [&](const clang::Stmt *below) { covered_.insert(below); });
  }

  bool is_covered(const std::vector<const clang::DeclRefExpr *> &uses) const {
    return std::ranges::all_of(uses, [&](const clang::DeclRefExpr *use) { return covered_.contains(use); });
  }

  void cover(const clang::BinaryOperator *binary, int axis, const std::string &name) {
    const auto places = places_in(source_, binary);
    if (binary->getOpcode() == clang::BO_Add && is_index(binary, name) &&
        places == std::set<std::string>{"blockDim." + name, "blockIdx." + name, "threadIdx." + name}) {
      found_.is_used[axis] = true;
      cover_all(binary);
    } else if (binary->getOpcode() == clang::BO_Mul &&
               places == std::set<std::string>{"blockDim." + name, "gridDim." + name} &&
               find_all<clang::BinaryOperator>(binary).size() == 1) {
      found_.is_bounded[axis] = true;
      cover_all(binary);
    }
  }

  const IndexReader &form_;
  const KernelSource &source_;
  GlobalIndex found_;
  std::set<const clang::Stmt *> covered_;
};

} // namespace

Result<GlobalIndex> only_global_index(const IndexReader &form) {
  const KernelSource &source = form.source();
  if (source.body_text().contains("__shared__") || has_collective(source.body()))
    return fail("the kernel uses shared memory, a barrier or warp operations");
  if (uses_whole_place(source.body()))
    return fail("the thread's place is used as a whole");
  if (const std::string name = callee_with_position(source.body()); !name.empty())
    return fail("the function " + name + " uses the thread's place");
  const GlobalIndex index = TRY(Uses(form).find());
  if (std::ranges::count(index.is_used, true) == 0)
    return fail("the kernel has no global index");
  return index;
}

} // namespace warpwright::source
