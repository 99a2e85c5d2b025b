// row_reduction(threads, row): a loop over a row in one thread becomes a row a warp or a row a block.
//
// Recognised from `for (j = 0; j < cols; ++j) acc op= f(x[row * stride + j], ...)` in one thread a row; f and what
// is done with the result stay the user's text. Sums, maxima and minima. Leaves out several results a row.
#include "generator/text/moves/move_kind.h"

#include "generator/text/moves/row_shape.h"
#include "generator/text/source/render.h"

#include <algorithm>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

namespace {

struct RowReduction {
  ReduceTask task;
  Polynomial rows;
};

/// Elements of the accumulation at row * stride + counter become placeholders; others must not depend on the row's
/// position in another way.
Result<Edits> take_arrays(const IndexReader &form, const CountedLoop &loop, ReduceTask &task,
                          Polynomial &stride) {
  Edits edits;
  std::optional<std::string> problem;
  for_each_node(loop.loop->getBody(), [&](const clang::Stmt *node) {
    const auto *expression = dyn_cast<clang::Expr>(node);
    const bool may =
        expression && (isa<clang::ArraySubscriptExpr>(node) || isa<clang::UnaryOperator>(node));
    auto element = may ? form.access(expression) : std::nullopt;
    if (!element || !isa<clang::ParmVarDecl>(element->base) || !element->index.mentions("gid.x"))
      return;
    const Polynomial by_row = element->index.coefficient_of("gid.x");
    auto range = form.source().range_of(expression);
    const bool runs_along_row = element->index.coefficient_of(loop.name) == Polynomial(1) &&
                                element->index.without("gid.x").without(loop.name).is_zero();
    if (!range || !runs_along_row || !is_uniform(form.source(), by_row) ||
        (!task.arrays.empty() && by_row != stride)) {
      problem = "an element is not at row * stride + column";
      return;
    }
    stride = by_row;
    const std::string name = element->base->getNameAsString();
    auto known = std::ranges::find(task.arrays, name, &ReducedArray::pointer);
    if (known == task.arrays.end())
      known = task.arrays.insert(
          known, {name, element->element_type, "e" + std::to_string(task.arrays.size())});
    edits.push_back({*range, "$" + known->name});
  });
  if (problem)
    return fail(*problem);
  return task.arrays.empty() ? Result<Edits>(fail("the loop reads no row")) : Result<Edits>(edits);
}

Result<void> take_initial(const IndexReader &form, const CountedLoop &loop,
                          const clang::VarDecl *accumulator, ReduceTask &task) {
  task.initial = form.source().text_of(accumulator->getInit());
  const bool from_first = loop.begin == Polynomial(1) || loop.begin == Polynomial(0);
  if (task.combine == Combine::Maximum || task.combine == Combine::Minimum)
    return from_first && !task.initial.empty() ? Result<void>()
                                               : fail("the loop starts neither at 0 nor at 1");
  const clang::Expr *init = strip_casts(accumulator->getInit());
  const auto *floating = clang::dyn_cast_or_null<clang::FloatingLiteral>(init);
  const auto *integer = clang::dyn_cast_or_null<clang::IntegerLiteral>(init);
  const bool zero =
      (floating && floating->getValue().isZero()) || (integer && integer->getValue() == 0);
  return zero && loop.begin == Polynomial(0) ? Result<void>()
                                             : fail("the sum does not start at zero");
}

Result<RowReduction> match_row_reduction(const KernelSource &source) {
  if (const std::string reason = refuses_templates(source); !reason.empty())
    return fail(reason);
  const IndexReader form(source);
  auto body = flatten(form);
  if (!body)
    return fail("a branch is no bounds check");
  const auto at = std::ranges::find_if(body->statements,
                                       [](const clang::Stmt *s) { return isa<clang::ForStmt>(s); });
  auto loop = at == body->statements.end() ? std::nullopt : counted_loop(form, *at);
  const auto inside =
      loop ? statements_of(loop->loop->getBody()) : std::vector<const clang::Stmt *>{};
  auto sum = inside.empty() ? std::nullopt : accumulation(inside.back());
  if (!sum || !sum->accumulator->isLocalVarDecl() || !sum->accumulator->hasInit())
    return fail("there is no loop that accumulates over a row");
  const bool others_declare =
      std::all_of(inside.begin(), inside.end() - 1,
                  [](const clang::Stmt *s) { return isa<clang::DeclStmt>(s); });
  const std::vector<const clang::Stmt *> before(body->statements.begin(), at),
      after(at + 1, body->statements.end());
  const bool single =
      std::ranges::none_of(after, [](const clang::Stmt *s) { return isa<clang::ForStmt>(s); });
  if (!others_declare || !single || after.empty() || has_collective(source.body()))
    return fail("the kernel does more than one accumulation");
  auto rows = body->bound_of(Polynomial::symbol("gid.x"));
  const clang::VarDecl *row = variable_with_value(form, *body, Polynomial::symbol("gid.x"));
  if (!rows || !row || !is_uniform(source, *rows))
    return fail("the number of rows is not known");
  RowReduction result{{}, *rows};
  ReduceTask &task = result.task;
  task.combine = sum->combine;
  task.accumulator = sum->accumulator->getNameAsString();
  task.accumulator_type = sum->accumulator->getType().getUnqualifiedType().getAsString(
      source.unit().context().getPrintingPolicy());
  static const std::set<std::string> kShuffled{"float", "double", "int", "unsigned int"};
  if (!kShuffled.contains(task.accumulator_type))
    return fail("a value of type " + task.accumulator_type + " cannot be shuffled");
  Polynomial stride;
  auto edits = take_arrays(form, *loop, task, stride);
  if (!edits)
    return std::unexpected(edits.error());
  if (auto taken = take_initial(form, *loop, sum->accumulator, task); !taken)
    return std::unexpected(taken.error());
  auto statement = statements_text(source, inside, *edits);
  auto epilogue = epilogue_text(form, before, after, {row, sum->accumulator});
  if (!statement || !epilogue)
    return fail("the statements around the loop need values that the template does not have");
  task.counter = loop->name;
  task.index_type = "int";
  task.statement = *statement;
  task.extent = *to_source(loop->end);
  task.row = row->getNameAsString();
  task.rows = *to_source(*rows);
  task.stride = *to_source(stride);
  task.epilogue = *epilogue;
  return result;
}

} // namespace

Choices check_row_reduction(const KernelSource &source) {
  auto reduction = match_row_reduction(source);
  if (!reduction)
    return Choices::none(reduction.error().message);
  return {row_choices(), {}};
}

Result<Edits> apply_row_reduction(const KernelSource &source, const Parameters &parameters) {
  auto reduction = match_row_reduction(source);
  if (!reduction)
    return std::unexpected(reduction.error());
  const RowThreads shape = row_shape(parameters);
  auto edits = launch_rows(source, reduction->rows, shape);
  if (edits)
    edits->push_back(source.body_edit(render_row_reduction(
        reduction->task, shape.threads, shape.threads_a_row, source.taken_names())));
  return edits;
}

} // namespace warpwright::generator
