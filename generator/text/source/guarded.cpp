// Recognition of the guarded shape, statement by statement; see guarded.h.
#include "generator/text/source/guarded.h"

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;

namespace {

/// The bound in `variable < bound` or `bound > variable`, or in the negation for an early return;
/// null for other conditions.
const clang::Expr *upper_bound(const clang::Expr *condition, const clang::VarDecl *variable,
                               bool negated) {
  if (const auto *negation = as<clang::UnaryOperator>(condition);
      negation && negation->getOpcode() == clang::UO_LNot)
    return upper_bound(negation->getSubExpr(), variable, !negated);
  const auto *binary = as<clang::BinaryOperator>(condition);
  if (!binary)
    return nullptr;
  const bool left = variable_of(strip_casts(binary->getLHS())) == variable;
  const bool right = variable_of(strip_casts(binary->getRHS())) == variable;
  const auto opcode = binary->getOpcode();
  if (left && opcode == (negated ? clang::BO_GE : clang::BO_LT))
    return binary->getRHS();
  if (right && opcode == (negated ? clang::BO_LE : clang::BO_GT))
    return binary->getLHS();
  return nullptr;
}

bool is_global_id(const IndexReader &form, const clang::VarDecl *variable) {
  return variable && variable->hasInit() &&
         form.of(variable->getInit()) == symbolic::Polynomial::symbol("gid.x");
}

/// Source text of the step in `i += step`; empty for anything else.
std::string step_text(const KernelSource &source, const clang::Expr *increment,
                      const clang::VarDecl *index) {
  const auto *binary = as<clang::BinaryOperator>(increment);
  if (!binary || binary->getOpcode() != clang::BO_AddAssign ||
      variable_of(binary->getLHS()) != index)
    return {};
  return source.text_of(binary->getRHS());
}

/// Fills the work, its range and the end of the whole. False for work that has no range in the text.
bool take_work(const KernelSource &source, Guarded &guarded, std::vector<const clang::Stmt *> work,
               std::size_t end) {
  guarded.work = std::move(work);
  if (guarded.work.empty())
    return false;
  auto first = source.range_of(guarded.work.front());
  auto last = source.statement_range(guarded.work.back());
  if (!first || !last)
    return false;
  // A comment after the last statement belongs to it.
  const std::size_t next = source.text().find_first_not_of(" \t", last->end);
  if (next != std::string_view::npos && source.text().substr(next).starts_with("//"))
    last->end = std::min(source.text().find('\n', next), source.text().size());
  guarded.work_range = {first->begin, last->end};
  guarded.whole.end = std::max(end, last->end);
  return true;
}

Result<Guarded> match_loop(const IndexReader &form, const clang::ForStmt *loop) {
  const KernelSource &source = form.source();
  Guarded guarded;
  guarded.is_loop = true;
  guarded.index = only_variable(loop->getInit());
  const clang::Expr *bound = upper_bound(loop->getCond(), guarded.index, false);
  guarded.step = step_text(source, loop->getInc(), guarded.index);
  auto range = source.statement_range(loop);
  if (!bound || guarded.step.empty() || !range)
    return fail("the loop is not of the form for (i = ...; i < n; i += step)");
  guarded.bound = source.text_of(bound);
  guarded.start = source.text_of(guarded.index->getInit());
  guarded.whole.begin = source.range_of(loop)->begin;
  guarded.has_braces = isa<clang::CompoundStmt>(loop->getBody());
  if (!take_work(source, guarded, statements_of(loop->getBody()), range->end))
    return fail("the loop's body cannot be edited");
  return guarded;
}

/// The work that `check`, statement `at` of the body, guards.
Result<void> take_checked_work(const IndexReader &form, const clang::IfStmt *check,
                               const std::vector<const clang::Stmt *> &body, std::size_t at,
                               Guarded &guarded) {
  const KernelSource &source = form.source();
  const auto then = statements_of(check->getThen());
  const bool returns = !then.empty() && isa<clang::ReturnStmt>(then.front());
  const clang::Expr *bound = upper_bound(check->getCond(), guarded.index, returns);
  if (!bound || check->getElse())
    return fail("the first branch is not a bounds check of the global index alone");
  guarded.bound = source.text_of(bound);
  std::vector<const clang::Stmt *> work =
      returns ? std::vector(body.begin() + at + 1, body.end()) : then;
  guarded.has_braces = returns ? work.size() > 1 : isa<clang::CompoundStmt>(check->getThen());
  auto range = source.statement_range(check);
  if (!range || guarded.bound.empty() || !take_work(source, guarded, std::move(work), range->end))
    return fail("the work behind the bounds check cannot be edited");
  return {};
}

/// The check that follows the declaration of an index, and the statements between them.
Result<Guarded> match_check(const IndexReader &form, const std::vector<const clang::Stmt *> &body,
                            std::size_t at) {
  const KernelSource &source = form.source();
  Guarded guarded;
  guarded.index = only_variable(body[at]);
  guarded.start = source.text_of(guarded.index->getInit());
  auto declared = source.range_of(body[at]);
  if (!declared || guarded.start.empty() || !is_written_once(source, guarded.index))
    return fail("the index is changed after its declaration");
  guarded.whole.begin = declared->begin;
  std::vector<const clang::VarDecl *> derived{guarded.index}; // the index and variables that depend on it
  const auto uses_index = [&](const clang::Stmt *statement) {
    return std::ranges::any_of(
        derived, [&](const auto *variable) { return !uses_of(statement, variable).empty(); });
  };
  for (std::size_t i = at + 1; i < body.size(); ++i) {
    if (const auto *check = dyn_cast<clang::IfStmt>(body[i])) {
      if (auto taken = take_checked_work(form, check, body, i, guarded); !taken)
        return std::unexpected(taken.error());
      if (guarded.work.back() != body.back() &&
          std::any_of(body.begin() + i + 1, body.end(), uses_index))
        return fail("the index is used after the bounds check");
      return guarded;
    }
    const bool uses = uses_index(body[i]), declares = isa<clang::DeclStmt>(body[i]);
    if (uses && !declares)
      return fail("the index is used before its bounds check");
    if (!declares && derived.size() > 1)
      return fail("what follows from the index is computed before other statements");
    if (uses)
      std::ranges::copy(variables_of(body[i]), std::back_inserter(derived));
    auto range = source.range_of(body[i]);
    auto full = source.statement_range(body[i]);
    if (!range || !full)
      return fail("a statement before the bounds check comes from a macro");
    (uses ? guarded.moved_in : guarded.kept_before) +=
        source.text_of(Range{range->begin, full->end}) + "\n";
  }
  return fail("the global index has no bounds check");
}

} // namespace

Result<Guarded> match_guarded(const IndexReader &form) {
  const KernelSource &source = form.source();
  const auto body = statements_of(source.body());
  for (std::size_t i = 0; i < body.size(); ++i) {
    const auto *loop = dyn_cast<clang::ForStmt>(body[i]);
    if (!is_global_id(form, only_variable(loop ? loop->getInit() : body[i])))
      continue;
    Result<Guarded> found = loop ? match_loop(form, loop) : match_check(form, body, i);
    if (found) {
      found->name = found->index->getNameAsString();
      found->type = source.type_name(found->index->getType());
      found->has_braces |= found->work.size() > 1 || !found->moved_in.empty();
    }
    return found;
  }
  return fail("the kernel has no one-dimensional global index with a bounds check");
}

Result<Guarded> match_straight(const IndexReader &form) {
  auto guarded = match_guarded(form);
  if (guarded && guarded->is_loop)
    return fail("the kernel already loops over the grid");
  if (guarded && has_exit(guarded->work))
    return fail("the work contains a return or a barrier");
  return guarded;
}

Result<std::string> Guarded::work_text(const KernelSource &source, const Edits &edits) const {
  auto text = source.level_text(work_range, edits);
  return text ? source.in_levels(moved_in) + *text : text;
}

std::string Guarded::loop_head(const std::string &loop_step) const {
  return "for (" + type + " " + name + " = " + start + "; " + name + " < " + bound + "; " + name +
         " += " + loop_step + ")";
}

TextEdit Guarded::replace(const KernelSource &source, const std::string &text) const {
  const std::string all = without_trailing_space(
      indent(source.in_levels(kept_before) + text, source.body_indent(), source.indent_step()));
  return {whole, all.substr(std::min(all.find_first_not_of(" \t"), all.size()))};
}

} // namespace warpwright::source
