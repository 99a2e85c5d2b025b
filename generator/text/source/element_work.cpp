// Recognition of the work for one element, statement by statement; see element_work.h.
#include "generator/text/source/element_work.h"

#include "generator/text/source/lanes.h"

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;
using clang::isa;
using symbolic::Polynomial;
using Kind = ElementCondition::Kind;
using Shape = ElementWork::Shape;

namespace {

Polynomial symbol(const std::string &name) { return Polynomial::symbol(name); }

/// A comment after a statement belongs to it.
std::size_t with_comment(std::string_view text, std::size_t end) {
  const std::size_t next = text.find_first_not_of(" \t", end);
  const bool has_comment = next != std::string_view::npos && text.substr(next).starts_with("//");
  return has_comment ? std::min(text.find('\n', next), text.size()) : end;
}

std::optional<Range> range_of_all(const KernelSource &source, const std::vector<const clang::Stmt *> &statements) {
  const auto first = statements.empty() ? std::nullopt : source.range_of(statements.front());
  const auto last = statements.empty() ? std::nullopt : source.statement_range(statements.back());
  return first && last ? std::optional(Range{first->begin, with_comment(source.text(), last->end)}) : std::nullopt;
}

/// The work behind `body[at]`, which declares the index.
Result<ElementWork> match_straight_work(const IndexReader &form, const std::vector<const clang::Stmt *> &body,
                                        std::size_t at) {
  const KernelSource &source = form.source();
  ElementWork found;
  found.index = only_variable(body[at]);
  const std::vector<const clang::Stmt *> rest(body.begin() + static_cast<std::ptrdiff_t>(at) + 1, body.end());
  const auto declared = source.range_of(body[at]);
  const auto single = range_of_all(source, rest);
  found.start = source.text_of(found.index->getInit());
  if (!declared || !single || found.start.empty())
    return fail("a statement comes from a macro");
  if (!is_written_once(source, found.index))
    return fail("the index is changed after its declaration");
  take_checks(form, rest, found);
  if (found.work.empty())
    return fail("there is no work behind the bounds checks");
  found.single_range = *single;
  if (found.is_simple()) {
    const auto work = range_of_all(source, found.work);
    if (!work)
      return fail("a statement comes from a macro");
    found.single_range = *work;
  }
  found.whole = {declared->begin, single->end};
  found.behind_pragmas = declared->begin;
  return found;
}

/// `variable < BOUND` in a loop's condition; null for others.
const clang::Expr *loop_bound(const clang::Expr *condition, const clang::VarDecl *variable) {
  const auto *binary = as<clang::BinaryOperator>(condition);
  if (!binary)
    return nullptr;
  if (binary->getOpcode() == clang::BO_LT && variable_of(strip_casts(binary->getLHS())) == variable)
    return binary->getRHS();
  if (binary->getOpcode() == clang::BO_GT && variable_of(strip_casts(binary->getRHS())) == variable)
    return binary->getLHS();
  return nullptr;
}

/// STEP in `variable += STEP`; null for others.
const clang::Expr *step_of(const clang::Stmt *increment, const clang::VarDecl *variable) {
  const auto *expression = dyn_cast_or_null<clang::Expr>(increment);
  const auto *binary = as<clang::BinaryOperator>(expression);
  return binary && binary->getOpcode() == clang::BO_AddAssign && variable_of(binary->getLHS()) == variable
             ? binary->getRHS()
             : nullptr;
}

/// The parts of a loop as the code has them.
struct LoopParts {
  const clang::Stmt *loop = nullptr;
  const clang::VarDecl *index = nullptr;
  const clang::Expr *condition = nullptr, *step = nullptr;
  std::vector<const clang::Stmt *> body;
  bool declares = false; ///< the loop itself declares the index
};

std::optional<LoopParts> parts_of(const clang::Stmt *statement) {
  LoopParts parts{.loop = statement};
  if (const auto *counted = dyn_cast<clang::ForStmt>(statement)) {
    parts.body = statements_of(counted->getBody());
    parts.condition = counted->getCond();
    const auto *increment = as<clang::BinaryOperator>(counted->getInc());
    parts.index = counted->getInit() ? only_variable(counted->getInit())
                  : increment        ? variable_of(increment->getLHS())
                                     : nullptr;
    parts.declares = counted->getInit() != nullptr;
    parts.step = step_of(counted->getInc(), parts.index);
  } else if (const auto *conditional = dyn_cast<clang::WhileStmt>(statement)) {
    parts.body = statements_of(conditional->getBody());
    parts.condition = conditional->getCond();
    const auto *increment =
        parts.body.empty() ? nullptr : as<clang::BinaryOperator>(dyn_cast<clang::Expr>(parts.body.back()));
    parts.index = increment ? variable_of(increment->getLHS()) : nullptr;
    parts.step = parts.index ? step_of(parts.body.back(), parts.index) : nullptr;
    if (!parts.body.empty())
      parts.body.pop_back();
    for (const clang::Stmt *one : parts.body)
      if (!find_all<clang::ContinueStmt>(one).empty())
        return std::nullopt;
  }
  const bool is_known = parts.index && parts.index->hasInit() && parts.step && !parts.body.empty();
  return is_known ? std::optional(parts) : std::nullopt;
}

/// The shape of a loop by its first index and its step; nullopt for others.
std::optional<Shape> shape_of(const IndexReader &form, const LoopParts &parts) {
  const auto start = form.of(parts.index->getInit()), step = form.of(parts.step);
  if (!start || !step)
    return std::nullopt;
  const auto is_block = [&](const Polynomial &value) {
    return value == symbol("blockDim.x") || (form.block()[0] && value == Polynomial(*form.block()[0]));
  };
  if (*start == symbol("threadIdx.x") && is_block(*step))
    return Shape::BlockLoop;
  if (*start == symbol("gid.x") && is_block(step->coefficient_of("gridDim.x")) && step->without("gridDim.x").is_zero())
    return Shape::GridLoop;
  return std::nullopt;
}

std::optional<ElementWork> match_loop_work(const IndexReader &form, const clang::Stmt *statement) {
  const KernelSource &source = form.source();
  const auto parts = parts_of(statement);
  const clang::Expr *bound = parts ? loop_bound(parts->condition, parts->index) : nullptr;
  const auto shape = bound ? shape_of(form, *parts) : std::nullopt;
  const auto whole = source.statement_range(statement), begin = source.range_of(statement);
  const auto body = shape ? range_of_all(source, parts->body) : std::nullopt;
  if (!body || !whole || !begin || writes_of(source.body(), parts->index).size() != 1)
    return std::nullopt;
  if (!parts->declares && uses_of(source.body(), parts->index).size() != uses_of(statement, parts->index).size())
    return std::nullopt; // code behind the loop may need the last value
  ElementWork found;
  found.shape = *shape;
  found.index = parts->index;
  found.start = source.text_of(parts->index->getInit());
  found.bound = source.text_of(bound);
  found.step = source.text_of(parts->step);
  found.work = parts->body;
  found.single_range = *body;
  found.whole = {with_pragmas(source.text(), begin->begin), whole->end}; // vectors replace unrolling
  found.behind_pragmas = begin->begin;
  found.conditions.push_back({Kind::Below, "", " < " + found.bound});
  if (found.start.empty() || found.bound.empty() || found.step.empty() || !uses_of(bound, found.index).empty())
    return std::nullopt;
  return found;
}

void name_index(const KernelSource &source, ElementWork &found) {
  found.name = found.index->getNameAsString();
  found.type = source.type_name(found.index->getType());
}

} // namespace

std::string ElementCondition::text(const std::string &first, const std::string &last) const {
  return kind == Kind::Same ? before : before + (kind == Kind::Below ? last : first) + after;
}

bool ElementWork::has_bound() const {
  return std::ranges::any_of(conditions, [](const ElementCondition &one) { return one.kind == Kind::Below; });
}

bool ElementWork::is_simple() const {
  return derived.empty() && std::ranges::all_of(conditions, [](const ElementCondition &one) {
    return one.kind == Kind::Same || (one.kind == Kind::Below && one.before.empty());
  });
}

std::vector<const clang::Stmt *> ElementWork::statements() const {
  std::vector<const clang::Stmt *> all = derived;
  all.insert(all.end(), work.begin(), work.end());
  return all;
}

Result<std::vector<ElementWork>> match_element_work(const IndexReader &form) {
  const KernelSource &source = form.source();
  std::vector<ElementWork> loops;
  for_each_node(source.body(), [&](const clang::Stmt *node) {
    if (!isa<clang::ForStmt>(node) && !isa<clang::WhileStmt>(node))
      return;
    auto found = match_loop_work(form, node);
    if (!found)
      return;
    name_index(source, *found);
    const bool fits = loops.empty() ||
                      (loops.front().shape == found->shape && loops.front().bound == found->bound &&
                       loops.front().type == found->type && loops.back().whole.end <= found->whole.begin);
    if (fits)
      loops.push_back(std::move(*found));
  });
  if (!loops.empty())
    return loops;
  std::string why = "the kernel has no index over elements along x";
  const auto body = statements_of(source.body());
  for (std::size_t at = 0; at < body.size(); ++at) {
    if (has_effect(body[at]))
      return fail(why);
    const clang::VarDecl *variable = only_variable(body[at]);
    if (!variable || !variable->hasInit() || form.of(variable->getInit()) != symbol("gid.x"))
      continue;
    auto found = match_straight_work(form, body, at);
    if (found) {
      name_index(source, *found);
      return std::vector{std::move(*found)};
    }
    why = found.error().message;
  }
  return fail(why);
}

} // namespace warpwright::source
