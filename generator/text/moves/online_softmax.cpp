// Move online_softmax(threads, row): replaces a softmax of three loops in one thread a row by the
// online template.
//
// Recognized from a maximum, a sum of exponentials and a store along the same row, in three loops
// over the same columns. The argument of the exponential is not checked exactly: the runner
// compares with the original.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/flat_body.h"
#include "generator/text/moves/row_shape.h"
#include "generator/text/templates/softmax.h"

#include <algorithm>

namespace warpwright::moves {

using clang::isa;

namespace {

struct Softmax {
  templates::MatrixTask task;
  symbolic::Polynomial rows;
};

struct RowElement {
  std::string array;
  symbolic::Polynomial stride;
};

/// Elements at row * stride + counter that a loop's body reads or writes.
std::vector<RowElement> row_elements(const source::IndexReader &form,
                                     const lift::CountedLoop &loop) {
  std::vector<RowElement> found;
  for (const source::ElementAccess &element : form.accesses(loop.loop->getBody()))
    if (element.element_type == "float" && isa<clang::ParmVarDecl>(element.base) &&
        element.index.coefficient_of(loop.name) == symbolic::Polynomial(1) &&
        element.index.without(loop.name).without("gid.x").is_zero())
      found.push_back({element.base->getNameAsString(), element.index.coefficient_of("gid.x")});
  return found;
}

bool calls_exponential(const clang::Stmt *root) {
  return std::ranges::any_of(source::find_all<clang::CallExpr>(root),
                             [](const clang::CallExpr *call) {
                               const std::string name = source::callee_name(call);
                               return name == "expf" || name == "exp" || name == "__expf";
                             });
}

bool divides_by(const clang::Stmt *root, const clang::VarDecl *sum) {
  return std::ranges::any_of(source::find_all<clang::BinaryOperator>(root),
                             [&](const auto *binary) {
                               return (binary->getOpcode() == clang::BO_Div ||
                                       binary->getOpcode() == clang::BO_DivAssign) &&
                                      source::variable_of(binary->getRHS()) == sum;
                             });
}

/// True if the code divides by the sum, or multiplies by a variable that was initialized so.
bool scales_by(const clang::Stmt *root, const clang::VarDecl *sum) {
  const auto is_share = [&](const clang::Expr *factor) {
    const clang::VarDecl *variable = source::variable_of(factor);
    return variable && variable->hasInit() && divides_by(variable->getInit(), sum);
  };
  return divides_by(root, sum) ||
         std::ranges::any_of(source::find_all<clang::BinaryOperator>(root),
                             [&](const auto *binary) {
                               return (binary->getOpcode() == clang::BO_Mul ||
                                       binary->getOpcode() == clang::BO_MulAssign) &&
                                      (is_share(binary->getLHS()) || is_share(binary->getRHS()));
                             });
}

/// Name of the array of a loop's last store; empty when there is none.
std::string stored_array(const source::IndexReader &form, const lift::CountedLoop &loop) {
  std::string name;
  for (const auto *assign : source::find_all<clang::BinaryOperator>(loop.loop->getBody()))
    if (auto element = assign->isAssignmentOp() ? form.access(assign->getLHS()) : std::nullopt)
      name = element->base->getNameAsString();
  return name;
}

Result<Softmax> match_softmax(const source::KernelSource &source) {
  const source::IndexReader form(source);
  const auto body = lift::replaceable_body(form);
  if (!body)
    return std::unexpected(body.error());
  std::vector<lift::CountedLoop> loops;
  for (const clang::Stmt *statement : body->statements) {
    if (isa<clang::ForStmt>(statement)) {
      auto loop = lift::counted_loop(form, statement);
      if (!loop || (!loops.empty() && loop->end != loops[0].end))
        return fail("the loops do not run over the same columns");
      loops.push_back(*loop);
    } else if (!isa<clang::DeclStmt>(statement)) {
      return fail("there is more than three loops");
    }
  }
  if (loops.size() != 3 || source::has_collective(source.body()))
    return fail("the kernel is not three loops along a row");
  auto last_of = [](const lift::CountedLoop &loop) {
    return source::statements_of(loop.loop->getBody()).back();
  };
  for (const lift::CountedLoop &loop : loops)
    if (source::statements_of(loop.loop->getBody()).empty())
      return fail("a loop is empty");
  auto maximum = lift::accumulation(last_of(loops[0])), sum = lift::accumulation(last_of(loops[1]));
  const auto read = row_elements(form, loops[0]);
  const std::string output = stored_array(form, loops[2]);
  const auto written = row_elements(form, loops[2]);
  const auto stored = std::ranges::find(written, output, &RowElement::array);
  if (!maximum || maximum->combine != source::Combine::Maximum || read.empty())
    return fail("the first loop does not find a row's maximum");
  if (!sum || sum->combine != source::Combine::Sum || !calls_exponential(loops[1].loop))
    return fail("the second loop does not sum exponentials");
  if (output.empty() || stored == written.end() || !scales_by(loops[2].loop, sum->accumulator))
    return fail("the third loop does not store quotients");
  auto rows = body->bound_of(symbolic::Polynomial::symbol("gid.x"));
  const clang::VarDecl *row =
      variable_with_value(form, *body, symbolic::Polynomial::symbol("gid.x"));
  if (!rows || !row || !lift::is_uniform(source, *rows) ||
      !lift::is_uniform(source, read[0].stride) || !lift::is_uniform(source, stored->stride))
    return fail("the number of rows is not known");
  Softmax result{{}, *rows};
  result.task = {read[0].array,
                 output,
                 *source::to_source(*rows),
                 *source::to_source(loops[0].end),
                 *source::to_source(read[0].stride),
                 *source::to_source(stored->stride),
                 row->getNameAsString(),
                 "int"};
  return result;
}

} // namespace

Result<Offer> offer_online_softmax(const source::KernelSource &source) {
  return offer_rows(source, match_softmax(source), templates::render_softmax);
}

} // namespace warpwright::moves
