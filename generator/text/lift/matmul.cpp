// Recognition of `sum += A[row, k] * B[k, col]` with either operand transposed and any store of the
// sum; see matmul.h.
//
// The store is kept as the user wrote it (alpha, beta, bias, activation), with the user's names for
// row, column and sum. C's index alone decides which thread index is the row.
#include "generator/text/lift/matmul.h"

#include "generator/text/lift/launches.h"

#include <algorithm>

namespace warpwright::lift {

using clang::dyn_cast;
using clang::isa;

namespace {

/// True if the only loop runs over k from 0 and sums products.
bool sums_products(const AccumulationLoop &found) {
  const auto has_loop = [](const clang::Stmt *statement) {
    return !source::find_all<clang::ForStmt>(statement).empty();
  };
  return found.loop.begin == symbolic::Polynomial(0) && found.sum.factors.size() == 2 &&
         found.sum.combine == source::Combine::Sum &&
         source::is_zero(found.sum.accumulator->getInit()) &&
         std::ranges::none_of(found.before, has_loop) &&
         std::ranges::none_of(found.after, has_loop);
}

/// The float element that a factor reads, directly or by a local variable; nullopt for other factors.
std::optional<source::ElementAccess> operand(const source::IndexReader &form,
                                             const clang::Expr *factor) {
  if (const clang::VarDecl *variable = source::variable_of(factor);
      variable && variable->isLocalVarDecl() && variable->hasInit())
    factor = variable->getInit();
  auto element = form.access(source::strip_casts(factor));
  const bool is_float =
      element && element->element_type == "float" && isa<clang::ParmVarDecl>(element->base);
  return is_float ? element : std::nullopt;
}

/// An index symbol * leading + other, with one of the two symbols at unit stride.
struct TwoIndices {
  symbolic::Polynomial leading;
  bool first_leads = false; ///< `first` is multiplied by `leading`
};

std::optional<TwoIndices> split(const symbolic::Polynomial &index, const std::string &first,
                                const std::string &second) {
  const symbolic::Polynomial by_first = index.coefficient_of(first),
                             by_second = index.coefficient_of(second);
  if (by_first.is_zero() || by_second.is_zero() || !index.without(first).without(second).is_zero())
    return std::nullopt;
  if (by_second == symbolic::Polynomial(1))
    return TwoIndices{by_first, true};
  if (by_first == symbolic::Polynomial(1))
    return TwoIndices{by_second, false};
  return std::nullopt;
}

/// The one element that statements store to; nullopt for none or several.
std::optional<source::ElementAccess> stored_element(const source::IndexReader &form,
                                                    const std::vector<const clang::Stmt *> &after) {
  std::vector<source::ElementAccess> stores;
  for (const clang::Stmt *statement : after)
    for (const auto *assign : source::find_all<clang::BinaryOperator>(statement))
      if (auto element = assign->isAssignmentOp() ? form.access(assign->getLHS()) : std::nullopt;
          element && isa<clang::ParmVarDecl>(element->base))
        stores.push_back(*element);
  return stores.size() == 1 ? std::optional(stores[0]) : std::nullopt;
}

/// Rows of C: from the bounds check, else from a shape that leaves no choice; nullopt otherwise.
std::optional<symbolic::Polynomial> row_bound(const source::IndexReader &form, const FlatBody &body,
                                              const std::string &row,
                                              const symbolic::Polynomial &cols) {
  if (auto bound = body.bound_of(symbolic::Polynomial::symbol(row)))
    return bound;
  if (auto all = body.bound_of(symbolic::Polynomial::symbol("gid.x"));
      all && row.starts_with("div(gid.x,"))
    for (const std::string &symbol : cols.symbols())
      if (*all == all->coefficient_of(symbol) * symbolic::Polynomial::symbol(symbol))
        return all->coefficient_of(symbol);
  std::vector<std::string> integers;
  for (const clang::ParmVarDecl *parameter : form.source().kernel()->parameters())
    if (parameter->getType()->isIntegerType())
      integers.push_back(parameter->getNameAsString());
  return integers.size() == 1 ? std::optional(symbolic::Polynomial::symbol(integers[0]))
                              : std::nullopt;
}

/// Finds the position symbols of C[row * ldc + col], and the extents of C.
Result<void> place_indices(const source::IndexReader &form, const FlatBody &body,
                           const source::ElementAccess &target, std::string &row, std::string &col,
                           Matmul &matmul) {
  for (const std::string &symbol : target.index.symbols())
    if (source::is_position(symbol))
      (target.index.coefficient_of(symbol) == symbolic::Polynomial(1) ? col : row) = symbol;
  auto stored = row.empty() || col.empty() ? std::nullopt : split(target.index, row, col);
  if (!stored || !stored->first_leads || !is_uniform(form.source(), stored->leading))
    return fail("the result is not stored at row * columns + column");
  matmul.task.ldc = *source::to_source(stored->leading);
  auto cols = body.bound_of(symbolic::Polynomial::symbol(col));
  matmul.cols = cols ? *cols : stored->leading;
  auto rows = row_bound(form, body, row, matmul.cols);
  if (!rows || !is_uniform(form.source(), *rows) || !is_uniform(form.source(), matmul.cols))
    return fail("the number of rows is not known: no bounds check names it");
  matmul.rows = *rows;
  return {};
}

/// Finds A and B among the factors, and how each is stored.
Result<void> place_operands(const source::IndexReader &form, const AccumulationLoop &found,
                            const std::string &row, const std::string &col, Matmul &matmul) {
  auto left = operand(form, found.sum.factors[0]), right = operand(form, found.sum.factors[1]);
  if (!left || !right)
    return fail("the product is not of two float arrays");
  if (right->index.mentions(row))
    std::swap(left, right);
  auto a = split(left->index, row, found.loop.name), b = split(right->index, found.loop.name, col);
  if (!a || !b || !is_uniform(form.source(), a->leading) || !is_uniform(form.source(), b->leading))
    return fail("the operands are not indexed by row and k, and by k and column");
  matmul.task.a = left->base->getNameAsString();
  matmul.task.b = right->base->getNameAsString();
  matmul.task.lda = *source::to_source(a->leading);
  matmul.task.ldb = *source::to_source(b->leading);
  matmul.task.a_transposed = !a->first_leads;
  matmul.task.b_transposed = !b->first_leads;
  return {};
}

} // namespace

Result<Matmul> match_matmul(const source::KernelSource &source) {
  if (const std::string reason = refuses_templates(source); !reason.empty())
    return fail(reason);
  const source::IndexReader form(source);
  auto body = flatten(form);
  const auto found = body ? only_accumulation(form, *body) : fail("");
  if (!found || !sums_products(*found))
    return fail("there is no single loop that sums products");
  const clang::VarDecl *sum = found->sum.accumulator;
  auto target = stored_element(form, found->after);
  if (!target || target->element_type != "float" || sum->getType().getAsString() != "float")
    return fail("the sum is not stored to one float array");
  Matmul matmul;
  std::string row, col;
  if (auto placed = place_indices(form, *body, *target, row, col, matmul); !placed)
    return std::unexpected(placed.error());
  if (auto placed = place_operands(form, *found, row, col, matmul); !placed)
    return std::unexpected(placed.error());
  const clang::VarDecl *row_variable =
      variable_with_value(form, *body, symbolic::Polynomial::symbol(row));
  const clang::VarDecl *col_variable =
      variable_with_value(form, *body, symbolic::Polynomial::symbol(col));
  templates::GemmTask &task = matmul.task;
  task.c = target->base->getNameAsString();
  task.row_name = row_variable ? row_variable->getNameAsString() : "row";
  task.col_name = col_variable ? col_variable->getNameAsString() : "col";
  task.sum_name = sum->getNameAsString();
  task.rows = *source::to_source(matmul.rows);
  task.cols = *source::to_source(matmul.cols);
  task.depth = *source::to_source(found->loop.end);
  auto epilogue =
      epilogue_text(form, found->before, found->after, {row_variable, col_variable, sum});
  if (!epilogue)
    return fail("the store needs values that the tiles do not have");
  task.epilogue = *epilogue;
  const auto *assign =
      found->after.size() == 1 ? dyn_cast<clang::BinaryOperator>(found->after[0]) : nullptr;
  task.plain_store = assign && assign->getOpcode() == clang::BO_Assign &&
                     source::variable_of(assign->getRHS()) == sum;
  return matmul;
}

} // namespace warpwright::lift
