// Move array_reduction(threads, blocks): the sum of an array into one number by a capped grid,
// float4 loads, shuffles and one atomicAdd a block.
//
// Two forms are recognized: every thread adds its element atomically, or a tree over a shared array
// of `i < n ? element : 0` ends in one atomicAdd a block. The summed term stays the user's
// expression.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/flat_body.h"
#include "generator/text/lift/launches.h"
#include "generator/text/source/atomics.h"
#include "generator/text/source/tree_reduction.h"
#include "generator/text/templates/reduce.h"

namespace warpwright::moves {

using clang::dyn_cast;
using clang::isa;

namespace {

constexpr int kElementsAThread = 4; // one float4 a thread in grids below the cap

struct ArrayReduction {
  templates::ReduceTask task;
  symbolic::Polynomial extent;
};

/// Text of `value` with placeholders for elements at the global index; nullopt when it uses the
/// index in another way or uses other locals.
std::optional<std::string> contribution(const source::IndexReader &form, const clang::Expr *value,
                                        const clang::VarDecl *index, templates::ReduceTask &task) {
  source::Edits edits;
  for (const source::ElementAccess &element : form.accesses(value)) {
    if (!isa<clang::ParmVarDecl>(element.base))
      continue;
    const auto range = form.source().range_of(element.expression);
    if (!range || element.index != symbolic::Polynomial::symbol("gid.x"))
      return std::nullopt;
    edits.push_back(
        {*range, task.placeholder(element.base->getNameAsString(), element.element_type)});
  }
  for (const auto *reference : source::find_all<clang::DeclRefExpr>(value))
    if (const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
        variable && variable->isLocalVarDecl() && variable != index)
      return std::nullopt;
  const auto whole = form.source().range_of(value);
  if (edits.empty() || !whole)
    return std::nullopt;
  auto text = form.source().edited_text(*whole, edits);
  return text ? std::optional(*text) : std::nullopt;
}

/// The sum that a kernel computes, in either form.
struct Found {
  const clang::Expr *value = nullptr;
  const clang::VarDecl *index = nullptr;
  std::optional<symbolic::Polynomial> extent;
  std::string address, type;
};

/// The sum in the form `if (i < n) atomicAdd(total, element)`.
Result<Found> match_atomics(const source::IndexReader &form) {
  auto atomic = match_atomic_add(form);
  if (!atomic)
    return std::unexpected(atomic.error());
  const source::Guarded &guarded = atomic->guarded;
  if (guarded.is_loop || guarded.work.size() != 1 ||
      source::statements_of(form.source().body()).size() >
          2 + (guarded.work_range.end == guarded.whole.end))
    return fail("the kernel does more than add its elements");
  lift::FlatBody body = lift::flatten(form).value_or(lift::FlatBody{});
  return Found{atomic->call->getArg(1), guarded.index,
               body.bound_of(symbolic::Polynomial::symbol("gid.x")), atomic->address,
               atomic->element_type};
}

/// The global index that a condition compares with the extent; null for other conditions.
const clang::VarDecl *compared_index(const source::IndexReader &form, const clang::Expr *condition,
                                     std::optional<symbolic::Polynomial> &extent) {
  const auto *less = source::as<clang::BinaryOperator>(condition);
  if (!less || less->getOpcode() != clang::BO_LT ||
      form.of(less->getLHS()) != symbolic::Polynomial::symbol("gid.x"))
    return nullptr;
  extent = form.of(less->getRHS());
  return source::variable_of(less->getLHS());
}

/// The sum in the form of a tree over `array[t] = i < n ? element : 0` and one atomicAdd of
/// array[0].
Result<Found> match_tree_and_atomic(const source::IndexReader &form) {
  const auto trees = find_trees(form);
  const source::KernelSource &source = form.source();
  const clang::CallExpr *atomic = only_atomic_call(source);
  if (trees.size() != 1 || trees[0].combine != source::Combine::Sum ||
      source::find_all<clang::ForStmt>(source.body()).size() != 1)
    return fail("there is no single tree of sums");
  if (!atomic)
    return fail("the tree's result is not added atomically");
  auto added = form.access(atomic->getArg(1));
  if (!added || added->base->getNameAsString() != trees[0].array ||
      added->index != symbolic::Polynomial(0))
    return fail("what is added is not the tree's result");
  Found found{nullptr, nullptr, std::nullopt, source.text_of(atomic->getArg(0)), trees[0].type};
  for (const auto *assign : source::find_all<clang::BinaryOperator>(source.body())) {
    auto target =
        assign->getOpcode() == clang::BO_Assign ? form.access(assign->getLHS()) : std::nullopt;
    if (!target || target->base != added->base ||
        target->index != symbolic::Polynomial::symbol("threadIdx.x"))
      continue;
    const clang::Expr *value = source::strip(assign->getRHS());
    if (const clang::VarDecl *variable = source::variable_of(value);
        variable && variable->hasInit() && is_written_once(source, variable))
      value = source::strip(variable->getInit());
    const auto *choice = dyn_cast<clang::ConditionalOperator>(value);
    found.index = choice ? compared_index(form, choice->getCond(), found.extent) : nullptr;
    found.value = choice ? choice->getTrueExpr() : nullptr;
  }
  for (const clang::Stmt *statement : source::statements_of(source.body()))
    if (const auto *expression = dyn_cast<clang::BinaryOperator>(statement);
        expression && expression->isAssignmentOp())
      if (auto target = form.access(expression->getLHS());
          target && isa<clang::ParmVarDecl>(target->base))
        return fail("the kernel also stores to " + target->base->getNameAsString());
  if (!found.index)
    return fail("the tree does not start from i < n ? element : 0");
  return found;
}

Result<ArrayReduction> match_array_reduction(const source::KernelSource &source) {
  if (const std::string reason = lift::refuses_templates(source); !reason.empty())
    return fail(reason);
  const source::IndexReader form(source);
  Result<Found> found = match_atomics(form);
  if (!found)
    found = match_tree_and_atomic(form);
  if (!found)
    return std::unexpected(found.error());
  if (!found->extent || !lift::is_uniform(source, *found->extent))
    return fail("the number of elements is not known");
  if (!source::is_shuffled(found->type) ||
      mentions(found->address, found->index->getNameAsString()))
    return fail("the result is not a single number that can be shuffled");
  for (const auto *reference : source::find_all<clang::DeclRefExpr>(source.body()))
    if (reference->getDecl()->getName() == "blockIdx" && form.block()[1] != 1)
      return fail("the block is not one-dimensional");
  ArrayReduction result{{}, *found->extent};
  templates::ReduceTask &task = result.task;
  auto value = contribution(form, found->value, found->index, task);
  if (!value)
    return fail("an element's contribution depends on more than arrays at the thread's index");
  task.accumulator = source::fresh_name("sum", source.taken_names());
  task.accumulator_type = found->type;
  task.initial = identity_text(source::Combine::Sum, found->type);
  task.counter = found->index->getNameAsString();
  task.index_type = "int";
  task.statement = task.accumulator + " += " + *value + ";";
  task.extent = *source::to_source(*found->extent);
  task.epilogue = "atomicAdd(" + found->address + ", " + task.accumulator + ");";
  return result;
}

} // namespace

Result<Offer> offer_array_reduction(const source::KernelSource &source) {
  const int all = source.gpu().multiprocessors;
  const auto edits = [&source](const ArrayReduction &reduction, const Parameters &choice) {
    const int threads = number(choice, "threads"), blocks = number(choice, "blocks");
    return lift::replace_kernel(
        source, render_array_reduction(reduction.task, source.taken_names()), {reduction.extent},
        [&](const std::vector<std::string> &extent) {
          const int elements = threads * kElementsAThread;
          const std::string grid =
              source::parenthesised(extent[0]) + " < " + std::to_string(elements * blocks) + " ? " +
              source::ceil_div_text(extent[0], elements) + " : " + std::to_string(blocks);
          return lift::ShapeTexts{{grid, "1", "1"}, {std::to_string(threads), "1", "1"}};
        });
  };
  return offer_of(match_array_reduction(source),
                  choice_table({"threads", "blocks"},
                               {{256, 8 * all}, {256, 4 * all}, {512, 4 * all}, {128, 16 * all}}),
                  edits);
}

} // namespace warpwright::moves
