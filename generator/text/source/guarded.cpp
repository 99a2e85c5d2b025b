// Matching the guarded shape statement by statement; see guarded.h.
#include "generator/text/source/guarded.h"

#include "generator/text/source/render.h"

#include <algorithm>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

namespace {

/// `variable < bound` written either way round, or its negation for an early return; the bound.
const clang::Expr *upper_bound(const clang::Expr *condition, const clang::VarDecl *variable,
                               bool negated) {
  const auto *binary = dyn_cast_or_null<clang::BinaryOperator>(strip(condition));
  if (const auto *negation = dyn_cast_or_null<clang::UnaryOperator>(strip(condition));
      negation && negation->getOpcode() == clang::UO_LNot)
    return upper_bound(negation->getSubExpr(), variable, !negated);
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

const clang::VarDecl *only_variable(const clang::Stmt *statement) {
  const auto *declaration = dyn_cast_or_null<clang::DeclStmt>(statement);
  return declaration && declaration->isSingleDecl()
             ? dyn_cast<clang::VarDecl>(declaration->getSingleDecl())
             : nullptr;
}

bool is_global_id(const IndexReader &form, const clang::VarDecl *variable) {
  if (!variable || !variable->hasInit())
    return false;
  return form.of(variable->getInit()) == Polynomial::symbol("gid.x");
}

std::string type_text(const KernelSource &source, const clang::VarDecl *variable) {
  const clang::QualType type = variable->getType().getUnqualifiedType();
  return type.getAsString(source.unit().context().getPrintingPolicy());
}

/// The step of `i += step`, as written; empty for anything else.
std::string step_text(const KernelSource &source, const clang::Expr *increment,
                      const clang::VarDecl *index) {
  const auto *binary = dyn_cast_or_null<clang::BinaryOperator>(strip(increment));
  if (!binary || binary->getOpcode() != clang::BO_AddAssign ||
      variable_of(binary->getLHS()) != index)
    return {};
  return source.text_of(binary->getRHS());
}

/// Fills the work, its range and the end of the whole. False when it has no place in the text.
bool take_work(const KernelSource &source, Guarded &guarded, std::vector<const clang::Stmt *> work,
               std::size_t end) {
  guarded.work = std::move(work);
  if (guarded.work.empty())
    return false;
  auto first = source.range_of(guarded.work.front());
  auto last = source.statement_range(guarded.work.back());
  if (!first || !last)
    return false;
  // A comment behind the last statement belongs to it.
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
  if (!is_global_id(form, guarded.index))
    return fail("the loop does not start at the thread's global index");
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

/// The check that follows the declaration of an index, and what stands between them.
Result<Guarded> match_check(const IndexReader &form, const std::vector<const clang::Stmt *> &body,
                            std::size_t at) {
  const KernelSource &source = form.source();
  Guarded guarded;
  guarded.index = only_variable(body[at]);
  guarded.start = source.text_of(guarded.index->getInit());
  auto declared = source.range_of(body[at]);
  if (!declared || guarded.start.empty() || !writes_of(source.body(), guarded.index).empty())
    return fail("the index is changed after its declaration");
  guarded.whole.begin = declared->begin;
  std::vector<const clang::ValueDecl *> inside{
      guarded.index}; // the index, and what follows from it
  const auto uses_inside = [&](const clang::Stmt *statement) {
    return std::ranges::any_of(
        inside, [&](const clang::ValueDecl *variable) { return references(statement, variable); });
  };
  for (std::size_t i = at + 1; i < body.size(); ++i) {
    const auto *check = dyn_cast<clang::IfStmt>(body[i]);
    if (!check) {
      const bool uses = uses_inside(body[i]);
      const auto *declaration = dyn_cast<clang::DeclStmt>(body[i]);
      if (uses && !declaration)
        return fail("the index is used before its bounds check");
      if (!declaration && inside.size() > 1)
        return fail("what follows from the index is computed before other statements");
      if (uses)
        for (const clang::Decl *derived : declaration->decls())
          if (const auto *variable = dyn_cast<clang::ValueDecl>(derived))
            inside.push_back(variable);
      auto range = source.range_of(body[i]);
      auto full = source.statement_range(body[i]);
      if (!range || !full)
        return fail("a statement before the bounds check comes from a macro");
      const std::string text(source.text().substr(range->begin, full->end - range->begin));
      (uses ? guarded.moved_in : guarded.kept_before) += text + "\n";
      continue;
    }
    const bool returns = isa<clang::ReturnStmt>(statements_of(check->getThen()).empty()
                                                    ? nullptr
                                                    : statements_of(check->getThen()).front());
    const clang::Expr *bound = upper_bound(check->getCond(), guarded.index, returns);
    if (!bound || check->getElse())
      return fail("the first branch is not a bounds check of the global index alone");
    guarded.bound = source.text_of(bound);
    std::vector<const clang::Stmt *> work =
        returns ? std::vector(body.begin() + i + 1, body.end()) : statements_of(check->getThen());
    guarded.has_braces = returns ? work.size() > 1 : isa<clang::CompoundStmt>(check->getThen());
    auto range = source.statement_range(check);
    if (!range || guarded.bound.empty() || !take_work(source, guarded, std::move(work), range->end))
      return fail("the work behind the bounds check cannot be edited");
    if (!returns)
      for (std::size_t after = i + 1; after < body.size(); ++after)
        if (uses_inside(body[after]))
          return fail("the index is used after the bounds check");
    return guarded;
  }
  return fail("the global index has no bounds check");
}

} // namespace

Result<Guarded> match_guarded(const IndexReader &form) {
  const KernelSource &source = form.source();
  const auto body = statements_of(source.body());
  for (std::size_t i = 0; i < body.size(); ++i) {
    Result<Guarded> found = fail("");
    if (is_global_id(form, only_variable(body[i])))
      found = match_check(form, body, i);
    else if (const auto *loop = dyn_cast<clang::ForStmt>(body[i]);
             loop && is_global_id(form, only_variable(loop->getInit())))
      found = match_loop(form, loop);
    else
      continue;
    if (found) {
      found->name = found->index->getNameAsString();
      found->type = type_text(source, found->index);
      found->has_braces |= found->work.size() > 1 || !found->moved_in.empty();
    }
    return found;
  }
  return fail("the kernel has no one-dimensional global index with a bounds check");
}

Result<std::string> Guarded::work_text(const KernelSource &source,
                                       const std::vector<TextEdit> &edits) const {
  std::vector<TextEdit> shifted;
  for (const TextEdit &edit : edits)
    if (edit.range.begin >= work_range.begin && edit.range.end <= work_range.end)
      shifted.push_back({{edit.range.begin - work_range.begin, edit.range.end - work_range.begin},
                         edit.replacement});
  auto text = apply_edits(source.text().substr(work_range.begin, work_range.size()), shifted);
  if (!text)
    return text;
  return in_levels(source,
                   moved_in + rebase(*text, indentation_at(source.text(), work_range.begin)));
}

TextEdit replace_guarded(const KernelSource &source, const Guarded &guarded,
                         const std::string &text) {
  std::string all = indent(in_levels(source, guarded.kept_before) + text, source.body_indent(),
                           source.indent_step());
  while (!all.empty() && (all.back() == '\n' || all.back() == ' '))
    all.pop_back();
  return {guarded.whole, all.substr(std::min(all.find_first_not_of(" \t"), all.size()))};
}

std::string in_levels(const KernelSource &source, std::string_view text) {
  const std::string &step = source.indent_step();
  std::string result;
  bool at_start = true;
  for (std::size_t i = 0; i < text.size();) {
    if (at_start && text.substr(i).starts_with(step)) {
      result += "  ";
      i += step.size();
      continue;
    }
    at_start = text[i] == '\n';
    result += text[i++];
  }
  return result;
}

} // namespace warpwright::generator
