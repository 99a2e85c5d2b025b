// online_softmax(threads, row): softmax in three loops of one thread a row becomes the online template.
//
// Recognised from a maximum, a sum of exponentials and a store along the same row, in three loops over the same
// columns. The check is loose on what exactly is exponentiated: the runner compares with the original.
#include "generator/text/moves/move_kind.h"

#include "generator/text/moves/row_shape.h"
#include "generator/text/source/render.h"
#include "generator/text/templates/softmax.h"

#include <algorithm>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

namespace {

struct Softmax {
  SoftmaxTask task;
  Polynomial rows;
};

struct RowElement {
  std::string array;
  Polynomial stride;
};

/// Elements at row * stride + counter that a loop's body reads or writes.
std::vector<RowElement> row_elements(const IndexReader &form, const CountedLoop &loop) {
  std::vector<RowElement> found;
  for_each_node(loop.loop->getBody(), [&](const clang::Stmt *node) {
    const bool may = isa<clang::ArraySubscriptExpr>(node) || isa<clang::UnaryOperator>(node);
    auto element = may ? form.access(dyn_cast<clang::Expr>(node)) : std::nullopt;
    if (!element || element->element_type != "float" || !isa<clang::ParmVarDecl>(element->base))
      return;
    if (element->index.coefficient_of(loop.name) == Polynomial(1) &&
        element->index.without(loop.name).without("gid.x").is_zero())
      found.push_back({element->base->getNameAsString(), element->index.coefficient_of("gid.x")});
  });
  return found;
}

bool calls_exponential(const clang::Stmt *root) {
  bool found = false;
  for (const auto *call : find_all<clang::CallExpr>(root)) {
    const std::string name = callee_name(call);
    found |= name == "expf" || name == "exp" || name == "__expf";
  }
  return found;
}

bool divides_by(const clang::Stmt *root, const clang::VarDecl *sum) {
  return std::ranges::any_of(find_all<clang::BinaryOperator>(root),
                             [sum](const clang::BinaryOperator *binary) {
                               return (binary->getOpcode() == clang::BO_Div ||
                                       binary->getOpcode() == clang::BO_DivAssign) &&
                                      variable_of(binary->getRHS()) == sum;
                             });
}

/// A variable that was made as a quotient by the sum: 1 / sum, before the loop.
bool is_share_of(const clang::Expr *factor, const clang::VarDecl *sum) {
  const clang::VarDecl *variable = variable_of(factor);
  return variable && variable->hasInit() && divides_by(variable->getInit(), sum);
}

bool divides(const clang::Stmt *root, const clang::VarDecl *sum) {
  return divides_by(root, sum) ||
         std::ranges::any_of(
             find_all<clang::BinaryOperator>(root), [sum](const clang::BinaryOperator *binary) {
               return (binary->getOpcode() == clang::BO_Mul ||
                       binary->getOpcode() == clang::BO_MulAssign) &&
                      (is_share_of(binary->getLHS(), sum) || is_share_of(binary->getRHS(), sum));
             });
}

/// The one array that a loop stores to along the row.
std::string stored_array(const IndexReader &form, const CountedLoop &loop) {
  std::string name;
  for (const auto *assign : find_all<clang::BinaryOperator>(loop.loop->getBody()))
    if (auto element = assign->isAssignmentOp() ? form.access(assign->getLHS()) : std::nullopt)
      name = element->base->getNameAsString();
  return name;
}

Result<Softmax> match_softmax(const KernelSource &source) {
  if (const std::string reason = refuses_templates(source); !reason.empty())
    return fail(reason);
  const IndexReader form(source);
  auto body = flatten(form);
  if (!body)
    return fail("a branch is no bounds check");
  std::vector<CountedLoop> loops;
  for (const clang::Stmt *statement : body->statements) {
    if (isa<clang::ForStmt>(statement)) {
      auto loop = counted_loop(form, statement);
      if (!loop || (!loops.empty() && loop->end != loops[0].end))
        return fail("the loops do not run over the same columns");
      loops.push_back(*loop);
    } else if (!isa<clang::DeclStmt>(statement)) {
      return fail("there is more than three loops");
    }
  }
  if (loops.size() != 3 || has_collective(source.body()))
    return fail("the kernel is not three loops along a row");
  auto last_of = [](const CountedLoop &loop) { return statements_of(loop.loop->getBody()).back(); };
  for (const CountedLoop &loop : loops)
    if (statements_of(loop.loop->getBody()).empty())
      return fail("a loop is empty");
  auto maximum = accumulation(last_of(loops[0])), sum = accumulation(last_of(loops[1]));
  const auto read = row_elements(form, loops[0]);
  const std::string output = stored_array(form, loops[2]);
  const auto written = row_elements(form, loops[2]);
  const auto stored = std::ranges::find(written, output, &RowElement::array);
  if (!maximum || maximum->combine != Combine::Maximum || read.empty())
    return fail("the first loop does not find a row's maximum");
  if (!sum || sum->combine != Combine::Sum || !calls_exponential(loops[1].loop))
    return fail("the second loop does not sum exponentials");
  if (output.empty() || stored == written.end() || !divides(loops[2].loop, sum->accumulator))
    return fail("the third loop does not store quotients");
  auto rows = body->bound_of(Polynomial::symbol("gid.x"));
  const clang::VarDecl *row = variable_with_value(form, *body, Polynomial::symbol("gid.x"));
  if (!rows || !row || !is_uniform(source, *rows) || !is_uniform(source, read[0].stride) ||
      !is_uniform(source, stored->stride))
    return fail("the number of rows is not known");
  Softmax result{{}, *rows};
  result.task = {read[0].array,
                 output,
                 *to_source(*rows),
                 *to_source(loops[0].end),
                 *to_source(read[0].stride),
                 *to_source(stored->stride),
                 row->getNameAsString(),
                 "int"};
  return result;
}

} // namespace

Choices check_online_softmax(const KernelSource &source) {
  auto softmax = match_softmax(source);
  if (!softmax)
    return Choices::none(softmax.error().message);
  return {row_choices(), {}};
}

Result<Edits> apply_online_softmax(const KernelSource &source, const Parameters &parameters) {
  auto softmax = match_softmax(source);
  if (!softmax)
    return std::unexpected(softmax.error());
  const RowThreads shape = row_shape(parameters);
  auto edits = launch_rows(source, softmax->rows, shape);
  if (edits)
    edits->push_back(source.body_edit(
        render_softmax(softmax->task, shape.threads, shape.threads_a_row, source.taken_names())));
  return edits;
}

} // namespace warpwright::generator
