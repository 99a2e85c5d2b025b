// tiled_transpose(tile, rows): out[x * rows + y] = in[y * cols + x] goes through a padded shared-memory tile.
//
// Recognised from one store of one element at exchanged indices; what is stored may be an expression of that
// element. Leaves out batches and in-place transposes.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/flat_body.h"
#include "generator/text/source/render.h"
#include "generator/text/templates/transpose.h"
#include "support/model/dtype.h"

#include <algorithm>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

namespace {

struct Transpose {
  TransposeTask task;
  Polynomial rows, cols;
};

struct Store {
  const clang::BinaryOperator *assign = nullptr;
  ElementAccess target, element;
};

std::optional<Store> only_store(const IndexReader &form, const FlatBody &body) {
  std::optional<Store> found;
  for (const clang::Stmt *statement : body.statements) {
    if (isa<clang::DeclStmt>(statement))
      continue;
    const auto *assign = dyn_cast<clang::BinaryOperator>(statement);
    if (found || !assign || !assign->isAssignmentOp())
      return std::nullopt;
    auto target = form.access(assign->getLHS());
    std::vector<ElementAccess> reads;
    for_each_node(assign->getRHS(), [&](const clang::Stmt *node) {
      const bool may = isa<clang::ArraySubscriptExpr>(node) || isa<clang::UnaryOperator>(node);
      if (auto element = may ? form.access(dyn_cast<clang::Expr>(node)) : std::nullopt)
        reads.push_back(*element);
    });
    if (!target || reads.size() != 1 || target->base == reads[0].base)
      return std::nullopt;
    found = Store{assign, *target, reads[0]};
  }
  return found;
}

/// The position symbols of in[row * stride + col], and out[col * stride + row] for the same two.
bool place_indices(const Store &store, std::string &row, std::string &col) {
  for (const std::string &symbol : store.element.index.symbols())
    if (is_position(symbol))
      (store.element.index.coefficient_of(symbol) == Polynomial(1) ? col : row) = symbol;
  if (row.empty() || col.empty())
    return false;
  const auto only_two = [&](const Polynomial &index) {
    return index.without(row).without(col).is_zero();
  };
  return only_two(store.element.index) && only_two(store.target.index) &&
         store.target.index.coefficient_of(row) == Polynomial(1) &&
         !store.target.index.coefficient_of(col).is_zero();
}

Result<Transpose> match_transpose(const KernelSource &source) {
  if (const std::string reason = refuses_templates(source); !reason.empty())
    return fail(reason);
  const IndexReader form(source);
  auto body = flatten(form);
  auto store = body ? only_store(form, *body) : std::nullopt;
  std::string row, col;
  if (!store || !place_indices(*store, row, col))
    return fail("there is no single store of an element at exchanged indices");
  auto rows = body->bound_of(Polynomial::symbol(row)),
       cols = body->bound_of(Polynomial::symbol(col));
  if (!rows || !cols || !is_uniform(source, *rows) || !is_uniform(source, *cols))
    return fail("the bounds of rows and columns are not known");
  const Polynomial input_stride = store->element.index.coefficient_of(row),
                   output_stride = store->target.index.coefficient_of(col);
  auto dtype = model::dtype_from_c_type(store->element.element_type);
  auto element = source.range_of(store->element.expression);
  auto value =
      element ? statements_text(source, {store->assign}, {{*element, "$element"}}) : std::nullopt;
  if (!is_uniform(source, input_stride) || !is_uniform(source, output_stride) || !dtype || !value ||
      value->find('=') == std::string::npos)
    return fail("the store cannot be rewritten");
  Transpose result{{}, *rows, *cols};
  TransposeTask &task = result.task;
  task.input = store->element.base->getNameAsString();
  task.output = store->target.base->getNameAsString();
  task.element = store->element.element_type;
  task.rows = *to_source(*rows);
  task.cols = *to_source(*cols);
  task.input_stride = *to_source(input_stride);
  task.output_stride = *to_source(output_stride);
  const clang::VarDecl *row_variable = variable_with_value(form, *body, Polynomial::symbol(row));
  const clang::VarDecl *col_variable = variable_with_value(form, *body, Polynomial::symbol(col));
  task.row_name = row_variable ? row_variable->getNameAsString() : "row";
  task.col_name = col_variable ? col_variable->getNameAsString() : "col";
  if (!epilogue_text(form, {}, {store->assign->getRHS()}, {row_variable, col_variable}) &&
      !epilogue_text(form, body->statements, {store->assign}, {row_variable, col_variable}))
    return fail("the stored value needs more than the element");
  task.store = std::string(store->assign->getOpcodeStr());
  const std::string after = value->substr(value->find(task.store + " ") == std::string::npos
                                              ? value->find('=') + 1
                                              : value->find(task.store + " ") + task.store.size());
  task.value = after.substr(after.find_first_not_of(" \n"),
                            after.rfind(';') - after.find_first_not_of(" \n"));
  return result;
}

} // namespace

Choices check_tiled_transpose(const KernelSource &source) {
  auto transpose = match_transpose(source);
  if (!transpose)
    return Choices::none(transpose.error().message);
  const auto bytes = model::size_bytes(*model::dtype_from_c_type(transpose->task.element));
  Choices legal;
  for (auto [tile, rows] : {std::pair{32, 8}, {32, 4}, {64, 8}, {64, 4}, {32, 16}})
    if (tile * (tile + 1) * bytes <= 48 * 1024)
      legal.choices.push_back({{"tile", std::to_string(tile)}, {"rows", std::to_string(rows)}});
  return legal;
}

Result<Edits> apply_tiled_transpose(const KernelSource &source, const Parameters &parameters) {
  auto transpose = match_transpose(source);
  if (!transpose)
    return std::unexpected(transpose.error());
  const int tile = number(parameters, "tile"), block_rows = number(parameters, "rows");
  auto edits = reshape_launches(
      source, [&](const clang::CUDAKernelCallExpr *launch) -> std::optional<ShapeTexts> {
        auto rows = at_launch(source, launch, transpose->rows),
             cols = at_launch(source, launch, transpose->cols);
        if (!rows || !cols)
          return std::nullopt;
        return ShapeTexts{{ceil_div_text(*cols, tile), ceil_div_text(*rows, tile), "1"},
                          {std::to_string(tile), std::to_string(block_rows), "1"}};
      });
  if (edits)
    edits->push_back(source.body_edit(
        render_transpose(transpose->task, tile, block_rows, 1, source.taken_names())));
  return edits;
}

} // namespace warpwright::generator
