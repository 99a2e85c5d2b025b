// Search for the longest runs of statements that one thread can run alone; see leader_work.h.
#include "generator/text/lift/leader_work.h"

#include <clang/AST/StmtCXX.h>

#include <algorithm>

namespace warpwright::lift {

using clang::dyn_cast;
using clang::isa;
using Statements = std::vector<const clang::Stmt *>;

namespace {

using Uses = std::map<const clang::VarDecl *, std::size_t>;

Uses uses_below(const clang::Stmt *root) {
  Uses uses;
  for (const auto *reference : source::find_all<clang::DeclRefExpr>(root))
    if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl()))
      ++uses[variable];
  return uses;
}

/// True if a `continue` below may leave the statement.
bool continues(const clang::Stmt *root) {
  if (!root || isa<clang::ForStmt>(root) || isa<clang::WhileStmt>(root) || isa<clang::DoStmt>(root))
    return false;
  return isa<clang::ContinueStmt>(root) || std::ranges::any_of(root->children(), continues);
}

class Search {
public:
  std::vector<LeaderRun> found;

  Search(const source::IndexReader &form, const std::set<const clang::Stmt *> &shared)
      : form_(form), uses_(uses_below(form.source().body())), shared_(shared) {}

  /// The statements of a compound, or the only statement of a loop or branch.
  Result<void> visit_body(const clang::Stmt *body, bool has_else = false) {
    const bool is_bare = body && !isa<clang::CompoundStmt>(body);
    return visit(source::statements_of(body), is_bare, is_bare && has_else);
  }

private:
  bool stores(const clang::Stmt *statement) {
    if (!statement)
      return false;
    const auto [known, is_new] = stores_.try_emplace(statement);
    if (is_new)
      known->second = !source::effects_of(statement).stores.empty();
    return known->second;
  }

  Result<void> visit(const Statements &list, bool is_bare, bool needs_braces) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const clang::Stmt *statement = list[i];
      if (shared_.contains(statement) || !stores(statement))
        continue;
      if (const std::size_t length = longest_run(list, i)) {
        const Statements run(list.begin() + static_cast<std::ptrdiff_t>(i),
                             list.begin() + static_cast<std::ptrdiff_t>(i + length));
        found.push_back({run, stores_are_used_elsewhere(form_, run), is_bare, needs_braces});
        i += length - 1;
      } else if (auto inside = visit_inside(statement); !inside) {
        return inside;
      }
    }
    return {};
  }

  Result<void> visit_inside(const clang::Stmt *statement) {
    if (const auto *attributed = dyn_cast<clang::AttributedStmt>(statement))
      return visit_inside(attributed->getSubStmt());
    if (isa<clang::CompoundStmt>(statement))
      return visit_body(statement);
    if (const auto *branch = dyn_cast<clang::IfStmt>(statement); branch && !stores(branch->getCond())) {
      if (auto then = visit_body(branch->getThen(), branch->getElse()); !then)
        return then;
      return visit_body(branch->getElse());
    }
    if (const auto *loop = dyn_cast<clang::ForStmt>(statement);
        loop && !stores(loop->getInit()) && !stores(loop->getCond()) && !stores(loop->getInc()))
      return visit_body(loop->getBody());
    if (const auto *loop = dyn_cast<clang::WhileStmt>(statement); loop && !stores(loop->getCond()))
      return visit_body(loop->getBody());
    return fail("a statement that stores gives a value that is used elsewhere");
  }

  /// The length of the longest run from `first` on that ends with a statement that stores; 0: none.
  std::size_t longest_run(const Statements &list, std::size_t first) {
    std::size_t longest = 0;
    Uses uses;
    std::set<const clang::VarDecl *> changed;
    for (std::size_t i = first; i < list.size() && may_run_alone(list[i]); ++i) {
      for (const auto &[variable, count] : uses_below(list[i]))
        uses[variable] += count;
      changed.merge(source::effects_of(list[i]).changed);
      for (const clang::VarDecl *variable : source::variables_of(list[i]))
        changed.insert(variable);
      const bool is_closed = std::ranges::all_of(changed, [&](const clang::VarDecl *variable) {
        return !uses_.contains(variable) || uses_.at(variable) == uses[variable];
      });
      if (is_closed && stores(list[i]))
        longest = i - first + 1;
    }
    return longest;
  }

  bool may_run_alone(const clang::Stmt *statement) const {
    bool has_shared = false;
    source::for_each_node(statement, [&](const clang::Stmt *node) { has_shared |= shared_.contains(node); });
    return !has_shared && !leaves(statement) && !continues(statement) && form_.source().statement_range(statement);
  }

  const source::IndexReader &form_;
  const Uses uses_; ///< in the whole kernel
  std::map<const clang::Stmt *, bool> stores_;
  const std::set<const clang::Stmt *> &shared_;
};

/// The array that a node stores to; null where it is not known.
const clang::VarDecl *stored_array(const source::IndexReader &form, const clang::Stmt *node) {
  if (const auto *call = dyn_cast<clang::CallExpr>(node); call && !source::written_by(call))
    return source::callee_name(call).starts_with("atomic") ? source::array_of(form.source(), call->getArg(0)) : nullptr;
  const clang::Expr *lvalue = source::strip(source::written_by(node));
  while (const auto *member = dyn_cast_or_null<clang::MemberExpr>(lvalue)) {
    if (member->isArrow())
      break;
    lvalue = source::strip(member->getBase());
  }
  const auto element = lvalue ? form.access(lvalue) : std::nullopt;
  return element ? element->base : lvalue ? source::array_of(form.source(), lvalue) : nullptr;
}

} // namespace

bool stores_are_used_elsewhere(const source::IndexReader &form, const Statements &statements) {
  for (const clang::Stmt *statement : statements)
    for (const clang::Stmt *node : source::effects_of(statement).stores) {
      if (const auto *call = dyn_cast<clang::CallExpr>(node); call && source::callee_name(call) == "printf")
        continue;
      const clang::VarDecl *array = stored_array(form, node);
      if (!array || !isa<clang::ParmVarDecl>(array))
        return true;
      std::size_t uses = 0;
      for (const clang::Stmt *one : statements)
        uses += source::uses_of(one, array).size();
      if (uses != source::uses_of(form.source().body(), array).size())
        return true;
    }
  return false;
}

Result<std::vector<LeaderRun>> leader_runs(const source::IndexReader &form, const clang::Stmt *root,
                                           const std::set<const clang::Stmt *> &shared) {
  Search search(form, shared);
  if (auto visited = search.visit_body(root); !visited)
    return std::unexpected(visited.error());
  return std::move(search.found);
}

} // namespace warpwright::lift
