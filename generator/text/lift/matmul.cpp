// Matching `sum += A[row, k] * B[k, col]` with either operand transposed and any store of the sum; see matmul.h.
//
// The store is kept as the user wrote it (alpha, beta, bias, activation), with the user's names for row, column
// and sum. Which thread index is the row follows from C's index alone.
#include "generator/text/lift/matmul.h"

#include "generator/text/source/render.h"

#include <algorithm>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

namespace {

struct Loop {
  CountedLoop counted;
  Accumulation sum;
  std::size_t position = 0; ///< in the flat body
};

std::optional<Loop> only_loop(const IndexReader &form, const FlatBody &body) {
  std::optional<Loop> found;
  for (std::size_t i = 0; i < body.statements.size(); ++i) {
    if (find_all<clang::ForStmt>(body.statements[i]).empty() &&
        !isa<clang::ForStmt>(body.statements[i]))
      continue;
    auto counted = counted_loop(form, body.statements[i]);
    if (found || !counted || counted->begin != Polynomial(0))
      return std::nullopt;
    const auto inside = statements_of(counted->loop->getBody());
    auto sum = inside.empty() ? std::nullopt : accumulation(inside.back());
    const bool others_declare =
        std::all_of(inside.begin(), inside.end() - (inside.empty() ? 0 : 1),
                    [](const clang::Stmt *s) { return isa<clang::DeclStmt>(s); });
    if (!sum || sum->factors.size() != 2 || sum->combine != Combine::Sum || !others_declare)
      return std::nullopt;
    found = Loop{*counted, *sum, i};
  }
  return found;
}

/// An operand of the product, through a local that holds it.
std::optional<ElementAccess> operand(const IndexReader &form, const clang::Expr *factor) {
  if (const clang::VarDecl *variable = variable_of(factor);
      variable && variable->isLocalVarDecl() && variable->hasInit())
    factor = variable->getInit();
  auto element = form.access(strip_casts(factor));
  const bool is_float =
      element && element->element_type == "float" && isa<clang::ParmVarDecl>(element->base);
  return is_float ? element : std::nullopt;
}

/// index = symbol * leading + other, with one of the two at unit stride.
struct TwoIndices {
  Polynomial leading;
  bool first_leads = false; ///< `first` is multiplied by `leading`
};

std::optional<TwoIndices> split(const Polynomial &index, const std::string &first,
                                const std::string &second) {
  const Polynomial by_first = index.coefficient_of(first), by_second = index.coefficient_of(second);
  if (by_first.is_zero() || by_second.is_zero() || !index.without(first).without(second).is_zero())
    return std::nullopt;
  if (by_second == Polynomial(1))
    return TwoIndices{by_first, true};
  if (by_first == Polynomial(1))
    return TwoIndices{by_second, false};
  return std::nullopt;
}

bool starts_at_zero(const clang::VarDecl *variable) {
  const clang::Expr *init = variable->hasInit() ? strip_casts(variable->getInit()) : nullptr;
  if (const auto *literal = clang::dyn_cast_or_null<clang::FloatingLiteral>(init))
    return literal->getValue().isZero();
  const auto *integer = clang::dyn_cast_or_null<clang::IntegerLiteral>(init);
  return integer && integer->getValue() == 0;
}

/// The one element that the statements after the loop store to.
std::optional<ElementAccess> stored_element(const IndexReader &form,
                                            const std::vector<const clang::Stmt *> &after) {
  std::optional<ElementAccess> stored;
  int stores = 0;
  for (const clang::Stmt *statement : after)
    for_each_node(statement, [&](const clang::Stmt *node) {
      const auto *assign = dyn_cast<clang::BinaryOperator>(node);
      if (!assign || !assign->isAssignmentOp())
        return;
      if (auto element = form.access(assign->getLHS());
          element && isa<clang::ParmVarDecl>(element->base)) {
        stored = element;
        ++stores;
      }
    });
  return stores == 1 ? stored : std::nullopt;
}

/// Rows of C: from the bounds check, else from a shape that has no other choice.
std::optional<Polynomial> row_bound(const IndexReader &form, const FlatBody &body,
                                    const std::string &row, const Polynomial &cols) {
  if (auto bound = body.bound_of(Polynomial::symbol(row)))
    return bound;
  if (auto all = body.bound_of(Polynomial::symbol("gid.x")); all && row.starts_with("div(gid.x,"))
    for (const std::string &symbol : cols.symbols())
      if (*all == all->coefficient_of(symbol) * Polynomial::symbol(symbol))
        return all->coefficient_of(symbol);
  int integers = 0;
  std::string name;
  for (const clang::ParmVarDecl *parameter : form.source().kernel()->parameters())
    if (parameter->getType()->isIntegerType()) {
      ++integers;
      name = parameter->getNameAsString();
    }
  return integers == 1 ? std::optional(Polynomial::symbol(name)) : std::nullopt;
}

Result<void> place_indices(const IndexReader &form, const FlatBody &body, const ElementAccess &target,
                           std::string &row, std::string &col, Matmul &matmul) {
  for (const std::string &symbol : target.index.symbols())
    if (is_position(symbol))
      (target.index.coefficient_of(symbol) == Polynomial(1) ? col : row) = symbol;
  auto stored = row.empty() || col.empty() ? std::nullopt : split(target.index, row, col);
  if (!stored || !stored->first_leads || !is_uniform(form.source(), stored->leading))
    return fail("the result is not stored at row * columns + column");
  matmul.task.ldc = *to_source(stored->leading);
  auto cols = body.bound_of(Polynomial::symbol(col));
  matmul.cols = cols ? *cols : stored->leading;
  auto rows = row_bound(form, body, row, matmul.cols);
  if (!rows || !is_uniform(form.source(), *rows) || !is_uniform(form.source(), matmul.cols))
    return fail("the number of rows is not known: no bounds check names it");
  matmul.rows = *rows;
  return {};
}

Result<void> place_operands(const IndexReader &form, const Loop &loop, const std::string &row,
                            const std::string &col, Matmul &matmul) {
  auto left = operand(form, loop.sum.factors[0]), right = operand(form, loop.sum.factors[1]);
  if (!left || !right)
    return fail("the product is not of two float arrays");
  if (right->index.mentions(row))
    std::swap(left, right);
  auto a = split(left->index, row, loop.counted.name),
       b = split(right->index, loop.counted.name, col);
  if (!a || !b || !is_uniform(form.source(), a->leading) || !is_uniform(form.source(), b->leading))
    return fail("the operands are not indexed by row and k, and by k and column");
  matmul.task.a = left->base->getNameAsString();
  matmul.task.b = right->base->getNameAsString();
  matmul.task.lda = *to_source(a->leading);
  matmul.task.ldb = *to_source(b->leading);
  matmul.task.a_transposed = !a->first_leads;
  matmul.task.b_transposed = !b->first_leads;
  return {};
}

} // namespace

Result<Matmul> match_matmul(const KernelSource &source) {
  if (const std::string reason = refuses_templates(source); !reason.empty())
    return fail(reason);
  const IndexReader form(source);
  auto body = flatten(form);
  auto loop = body ? only_loop(form, *body) : std::nullopt;
  if (!loop || !starts_at_zero(loop->sum.accumulator) || !loop->sum.accumulator->isLocalVarDecl())
    return fail("there is no single loop that sums products");
  const std::vector<const clang::Stmt *> before(body->statements.begin(),
                                                body->statements.begin() + loop->position);
  const std::vector<const clang::Stmt *> after(body->statements.begin() + loop->position + 1,
                                               body->statements.end());
  auto target = stored_element(form, after);
  if (!target || target->element_type != "float" ||
      loop->sum.accumulator->getType().getAsString() != "float")
    return fail("the sum is not stored to one float array");
  Matmul matmul;
  std::string row, col;
  if (auto placed = place_indices(form, *body, *target, row, col, matmul); !placed)
    return std::unexpected(placed.error());
  if (auto placed = place_operands(form, *loop, row, col, matmul); !placed)
    return std::unexpected(placed.error());
  const clang::VarDecl *row_variable = variable_with_value(form, *body, Polynomial::symbol(row));
  const clang::VarDecl *col_variable = variable_with_value(form, *body, Polynomial::symbol(col));
  GemmTask &task = matmul.task;
  task.c = target->base->getNameAsString();
  task.row_name = row_variable ? row_variable->getNameAsString() : "row";
  task.col_name = col_variable ? col_variable->getNameAsString() : "col";
  task.sum_name = loop->sum.accumulator->getNameAsString();
  task.rows = *to_source(matmul.rows);
  task.cols = *to_source(matmul.cols);
  task.depth = *to_source(loop->counted.end);
  auto epilogue =
      epilogue_text(form, before, after, {row_variable, col_variable, loop->sum.accumulator});
  if (!epilogue)
    return fail("the store needs values that the tiles do not have");
  task.epilogue = *epilogue;
  const auto *assign = after.size() == 1 ? dyn_cast<clang::BinaryOperator>(after[0]) : nullptr;
  task.plain_store = assign && assign->getOpcode() == clang::BO_Assign &&
                     variable_of(assign->getRHS()) == loop->sum.accumulator;
  return matmul;
}

} // namespace warpwright::generator
