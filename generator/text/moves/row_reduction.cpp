// Move row_reduction(threads, row): a loop of one thread over a row becomes a reduction of the row
// by a warp or a block.
//
// Recognized from `for (j = 0; j < cols; ++j) acc op= f(x[row * stride + j], ...)` in one thread a
// row, for sums, maxima and minima. f and the use of the result stay the user's text. Several
// results a row are not supported.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/flat_body.h"
#include "generator/text/moves/row_shape.h"
#include "generator/text/templates/reduce.h"

namespace warpwright::moves {
namespace {

struct RowReduction {
  templates::ReduceTask task;
  symbolic::Polynomial rows;
};

/// Edits that put placeholders in place of elements at row * stride + counter.
/// Errors: an element that depends on the row's position in another way, or no such element.
Result<source::Edits> take_arrays(const source::IndexReader &form, const lift::CountedLoop &loop,
                                  templates::ReduceTask &task, symbolic::Polynomial &stride) {
  source::Edits edits;
  for (const source::ElementAccess &element : form.accesses(loop.loop->getBody())) {
    if (!clang::isa<clang::ParmVarDecl>(element.base) || !element.index.mentions("gid.x"))
      continue;
    const symbolic::Polynomial by_row = element.index.coefficient_of("gid.x");
    const auto range = form.source().range_of(element.expression);
    const bool runs_along_row =
        element.index.coefficient_of(loop.name) == symbolic::Polynomial(1) &&
        element.index.without("gid.x").without(loop.name).is_zero();
    if (!range || !runs_along_row || !lift::is_uniform(form.source(), by_row) ||
        (!edits.empty() && by_row != stride))
      return fail("an element is not at row * stride + column");
    stride = by_row;
    edits.push_back(
        {*range, task.placeholder(element.base->getNameAsString(), element.element_type)});
  }
  if (edits.empty())
    return fail("the loop reads no row");
  return edits;
}

/// Reads the accumulator's initial value. Errors: a value that the template cannot start from.
Result<void> take_initial(const source::IndexReader &form, const lift::CountedLoop &loop,
                          const clang::VarDecl *accumulator, templates::ReduceTask &task) {
  task.initial = form.source().text_of(accumulator->getInit());
  const bool from_zero = loop.begin == symbolic::Polynomial(0);
  if (task.combine == source::Combine::Maximum || task.combine == source::Combine::Minimum) {
    if ((!from_zero && loop.begin != symbolic::Polynomial(1)) || task.initial.empty())
      return fail("the loop starts neither at 0 nor at 1");
  } else if (!from_zero || !source::is_zero(accumulator->getInit())) {
    return fail("the sum does not start at zero");
  }
  return {};
}

Result<RowReduction> match_row_reduction(const source::KernelSource &source) {
  const source::IndexReader form(source);
  const auto body = lift::replaceable_body(form);
  if (!body)
    return std::unexpected(body.error());
  const auto found = only_accumulation(form, *body);
  if (!found)
    return std::unexpected(found.error());
  if (found->after.empty() || source::has_collective(source.body()))
    return fail("the kernel does more than one accumulation");
  const clang::VarDecl *accumulator = found->sum.accumulator;
  auto rows = body->bound_of(symbolic::Polynomial::symbol("gid.x"));
  const clang::VarDecl *row =
      variable_with_value(form, *body, symbolic::Polynomial::symbol("gid.x"));
  if (!rows || !row || !lift::is_uniform(source, *rows))
    return fail("the number of rows is not known");
  RowReduction result{{}, *rows};
  templates::ReduceTask &task = result.task;
  task.combine = found->sum.combine;
  task.accumulator = accumulator->getNameAsString();
  task.accumulator_type = source.type_name(accumulator->getType());
  if (!source::is_shuffled(task.accumulator_type))
    return fail("a value of type " + task.accumulator_type + " cannot be shuffled");
  symbolic::Polynomial stride;
  auto edits = take_arrays(form, found->loop, task, stride);
  if (!edits)
    return std::unexpected(edits.error());
  if (auto taken = take_initial(form, found->loop, accumulator, task); !taken)
    return std::unexpected(taken.error());
  auto statement = lift::statements_text(source, found->inside, *edits);
  auto epilogue = lift::epilogue_text(form, found->before, found->after, {row, accumulator});
  if (!statement || !epilogue)
    return fail("the statements around the loop need values that the template does not have");
  task.counter = found->loop.name;
  task.index_type = "int";
  task.statement = *statement;
  task.extent = *source::to_source(found->loop.end);
  task.row = row->getNameAsString();
  task.rows = *source::to_source(*rows);
  task.stride = *source::to_source(stride);
  task.epilogue = *epilogue;
  return result;
}

} // namespace

Result<Offer> offer_row_reduction(const source::KernelSource &source) {
  return offer_rows(source, match_row_reduction(source), templates::render_row_reduction);
}

} // namespace warpwright::moves
