// Move tiled_transpose(tile, rows): out[x * rows + y] = in[y * cols + x] through a padded tile in
// shared memory.
//
// Recognized from one store of one element at exchanged indices; the stored value may be an
// expression of that element. Batches and in-place transposes are not supported.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/flat_body.h"
#include "generator/text/lift/launches.h"
#include "generator/text/templates/reduce.h"
#include "generator/text/templates/transpose.h"

namespace warpwright::moves {

using clang::dyn_cast;
using clang::isa;

namespace {

struct Transpose {
  templates::TransposeTask task;
  symbolic::Polynomial rows, cols;
};

struct Store {
  const clang::BinaryOperator *assign = nullptr;
  source::ElementAccess target, element;
};

/// The only store of the body, of a value that reads one element of another array.
std::optional<Store> only_store(const source::IndexReader &form, const lift::FlatBody &body) {
  std::optional<Store> found;
  for (const clang::Stmt *statement : body.statements) {
    if (isa<clang::DeclStmt>(statement))
      continue;
    const auto *assign = dyn_cast<clang::BinaryOperator>(statement);
    if (found || !assign || !assign->isAssignmentOp())
      return std::nullopt;
    auto target = form.access(assign->getLHS());
    const auto reads = form.accesses(assign->getRHS());
    if (!target || reads.size() != 1 || target->base == reads[0].base)
      return std::nullopt;
    found = Store{assign, *target, reads[0]};
  }
  return found;
}

/// Finds the position symbols of in[row * stride + col]; false unless the store is to
/// out[col * stride + row] for the same two.
bool place_indices(const Store &store, std::string &row, std::string &col) {
  for (const std::string &symbol : store.element.index.symbols())
    if (source::is_position(symbol))
      (store.element.index.coefficient_of(symbol) == symbolic::Polynomial(1) ? col : row) = symbol;
  if (row.empty() || col.empty())
    return false;
  const auto only_two = [&](const symbolic::Polynomial &index) {
    return index.without(row).without(col).is_zero();
  };
  return only_two(store.element.index) && only_two(store.target.index) &&
         store.target.index.coefficient_of(row) == symbolic::Polynomial(1) &&
         !store.target.index.coefficient_of(col).is_zero();
}

Result<Transpose> match_transpose(const source::KernelSource &source) {
  if (const std::string reason = lift::refuses_templates(source); !reason.empty())
    return fail(reason);
  const source::IndexReader form(source);
  auto body = lift::flatten(form);
  auto store = body ? only_store(form, *body) : std::nullopt;
  std::string row, col;
  if (!store || !place_indices(*store, row, col))
    return fail("there is no single store of an element at exchanged indices");
  auto rows = body->bound_of(symbolic::Polynomial::symbol(row)),
       cols = body->bound_of(symbolic::Polynomial::symbol(col));
  if (!rows || !cols || !lift::is_uniform(source, *rows) || !lift::is_uniform(source, *cols))
    return fail("the bounds of rows and columns are not known");
  const symbolic::Polynomial input_stride = store->element.index.coefficient_of(row),
                             output_stride = store->target.index.coefficient_of(col);
  auto element = source.range_of(store->element.expression);
  auto value = element ? lift::statements_text(source, {store->assign}, {{*element, "$element"}})
                       : std::nullopt;
  if (!lift::is_uniform(source, input_stride) || !lift::is_uniform(source, output_stride) ||
      templates::element_bytes(store->element.element_type) == 0 || !value || !value->contains('='))
    return fail("the store cannot be rewritten");
  Transpose result{{}, *rows, *cols};
  templates::TransposeTask &task = result.task;
  task.input = store->element.base->getNameAsString();
  task.output = store->target.base->getNameAsString();
  task.element = store->element.element_type;
  task.rows = *source::to_source(*rows);
  task.cols = *source::to_source(*cols);
  task.input_stride = *source::to_source(input_stride);
  task.output_stride = *source::to_source(output_stride);
  const clang::VarDecl *row_variable =
      variable_with_value(form, *body, symbolic::Polynomial::symbol(row));
  const clang::VarDecl *col_variable =
      variable_with_value(form, *body, symbolic::Polynomial::symbol(col));
  task.row_name = row_variable ? row_variable->getNameAsString() : "row";
  task.col_name = col_variable ? col_variable->getNameAsString() : "col";
  if (!lift::epilogue_text(form, {}, {store->assign->getRHS()}, {row_variable, col_variable}) &&
      !lift::epilogue_text(form, body->statements, {store->assign}, {row_variable, col_variable}))
    return fail("the stored value needs more than the element");
  task.store = std::string(store->assign->getOpcodeStr());
  const std::size_t spaced = value->find(task.store + " ");
  const std::size_t behind =
      spaced == std::string::npos ? value->find('=') + 1 : spaced + task.store.size();
  const std::size_t begin = value->find_first_not_of(" \n", behind);
  task.value = value->substr(begin, value->rfind(';') - begin);
  return result;
}

} // namespace

Result<Offer> offer_tiled_transpose(const source::KernelSource &source) {
  const auto transpose = match_transpose(source);
  if (!transpose)
    return std::unexpected(transpose.error());
  auto choices = choice_table({"tile", "rows"}, {{32, 8}, {32, 4}, {64, 8}, {64, 4}, {32, 16}});
  std::erase_if(choices, [bytes = templates::element_bytes(transpose->task.element)](
                             const Parameters &choice) {
    const int tile = number(choice, "tile");
    return tile * (tile + 1) * bytes > 48 * 1024;
  });
  return Offer{choices, [&source, transpose = *transpose](const Parameters &choice) {
                 const int tile = number(choice, "tile"), block_rows = number(choice, "rows");
                 return lift::replace_by_tiles(
                     source,
                     render_transpose(transpose.task, tile, block_rows, source.taken_names()),
                     {transpose.rows, transpose.cols, tile, tile, tile, block_rows});
               }};
}

} // namespace warpwright::moves
