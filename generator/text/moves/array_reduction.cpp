// array_reduction(threads, blocks): the sum of an array into one number by a capped grid, float4 loads, shuffles and
// one atomicAdd a block.
//
// Recognised in two spellings: every thread adds its element atomically, or a tree over a shared array of
// `i < n ? element : 0` ends in one atomicAdd a block. What an element contributes stays the user's expression.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/flat_body.h"
#include "generator/text/source/atomics.h"
#include "generator/text/source/render.h"
#include "generator/text/source/tree_reduction.h"

#include <algorithm>

namespace warpwright::generator {

using clang::dyn_cast;
using clang::isa;

namespace {

constexpr int kElementsAThread = 4; // one float4 a thread before the cap on the grid takes hold

struct ArrayReduction {
  ReduceTask task;
  Polynomial extent;
};

/// Elements of `value` at the global index become placeholders; any other use of the index makes it unfit.
std::optional<std::string> contribution(const IndexReader &form, const clang::Expr *value,
                                        const clang::VarDecl *index, ReduceTask &task) {
  Edits edits;
  bool fits = true;
  for_each_node(value, [&](const clang::Stmt *node) {
    const bool may = isa<clang::ArraySubscriptExpr>(node) || isa<clang::UnaryOperator>(node);
    auto element = may ? form.access(dyn_cast<clang::Expr>(node)) : std::nullopt;
    if (!element || !isa<clang::ParmVarDecl>(element->base))
      return;
    auto range = form.source().range_of(node);
    fits &= range && element->index == Polynomial::symbol("gid.x");
    if (!fits)
      return;
    const std::string name = element->base->getNameAsString();
    auto known = std::ranges::find(task.arrays, name, &ReducedArray::pointer);
    if (known == task.arrays.end())
      known = task.arrays.insert(
          known, {name, element->element_type, "e" + std::to_string(task.arrays.size())});
    edits.push_back({*range, "$" + known->name});
  });
  for (const auto *reference : find_all<clang::DeclRefExpr>(value)) {
    const auto *variable = dyn_cast<clang::VarDecl>(reference->getDecl());
    fits &= !variable || !variable->isLocalVarDecl() || variable == index;
  }
  auto whole = form.source().range_of(value);
  if (!fits || task.arrays.empty() || !whole)
    return std::nullopt;
  for (TextEdit &edit : edits)
    edit.range = {edit.range.begin - whole->begin, edit.range.end - whole->begin};
  auto text = apply_edits(form.source().text().substr(whole->begin, whole->size()), edits);
  return text ? std::optional(*text) : std::nullopt;
}

struct Found {
  const clang::Expr *value = nullptr;
  const clang::VarDecl *index = nullptr;
  std::optional<Polynomial> extent;
  std::string address, type;
};

/// `if (i < n) atomicAdd(total, element)`.
Result<Found> match_atomics(const IndexReader &form) {
  auto guarded = match_guarded(form);
  if (!guarded)
    return std::unexpected(guarded.error());
  auto atomic = only_atomic_add(form, *guarded);
  if (!atomic)
    return std::unexpected(atomic.error());
  if (guarded->is_loop || guarded->work.size() != 1 ||
      statements_of(form.source().body()).size() >
          2 + (guarded->work_range.end == guarded->whole.end))
    return fail("the kernel does more than add its elements");
  FlatBody body = flatten(form).value_or(FlatBody{});
  return Found{atomic->call->getArg(1), guarded->index, body.bound_of(Polynomial::symbol("gid.x")),
               atomic->address, atomic->element_type};
}

/// The global index that a condition compares with the extent.
const clang::VarDecl *compared_index(const IndexReader &form, const clang::Expr *condition,
                                     std::optional<Polynomial> &extent) {
  const auto *less = clang::dyn_cast_or_null<clang::BinaryOperator>(strip(condition));
  if (!less || less->getOpcode() != clang::BO_LT ||
      form.of(less->getLHS()) != Polynomial::symbol("gid.x"))
    return nullptr;
  extent = form.of(less->getRHS());
  return variable_of(less->getLHS());
}

/// A tree over `array[t] = i < n ? element : 0` and one atomicAdd of array[0].
Result<Found> match_tree_and_atomic(const IndexReader &form) {
  const auto trees = find_trees(form);
  const KernelSource &source = form.source();
  std::vector<const clang::CallExpr *> atomics;
  for (const auto *call : find_all<clang::CallExpr>(source.body()))
    if (callee_name(call).starts_with("atomic"))
      atomics.push_back(call);
  if (trees.size() != 1 || trees[0].combine != Combine::Sum ||
      find_all<clang::ForStmt>(source.body()).size() != 1)
    return fail("there is no single tree of sums");
  if (atomics.size() != 1 || callee_name(atomics[0]) != "atomicAdd" ||
      atomics[0]->getNumArgs() != 2)
    return fail("the tree's result is not added atomically");
  auto added = form.access(atomics[0]->getArg(1));
  if (!added || added->base->getNameAsString() != trees[0].array || added->index != Polynomial(0))
    return fail("what is added is not the tree's result");
  Found found{nullptr, nullptr, std::nullopt, source.text_of(atomics[0]->getArg(0)), trees[0].type};
  for (const auto *assign : find_all<clang::BinaryOperator>(source.body())) {
    auto target =
        assign->getOpcode() == clang::BO_Assign ? form.access(assign->getLHS()) : std::nullopt;
    if (!target || target->base != added->base ||
        target->index != Polynomial::symbol("threadIdx.x"))
      continue;
    const clang::Expr *value = strip(assign->getRHS());
    if (const clang::VarDecl *variable = variable_of(value);
        variable && variable->hasInit() && writes_of(source.body(), variable).empty())
      value = strip(variable->getInit());
    const auto *choice = dyn_cast<clang::ConditionalOperator>(value);
    found.index = choice ? compared_index(form, choice->getCond(), found.extent) : nullptr;
    found.value = choice ? choice->getTrueExpr() : nullptr;
  }
  for (const clang::Stmt *statement : statements_of(source.body()))
    if (const auto *expression = dyn_cast<clang::BinaryOperator>(statement);
        expression && expression->isAssignmentOp())
      if (auto target = form.access(expression->getLHS());
          target && isa<clang::ParmVarDecl>(target->base))
        return fail("the kernel also stores to " + target->base->getNameAsString());
  return found.index ? Result<Found>(found)
                     : Result<Found>(fail("the tree does not start from i < n ? element : 0"));
}

Result<ArrayReduction> match_array_reduction(const KernelSource &source) {
  if (const std::string reason = refuses_templates(source); !reason.empty())
    return fail(reason);
  const IndexReader form(source);
  Result<Found> found = match_atomics(form);
  if (!found)
    found = match_tree_and_atomic(form);
  if (!found)
    return std::unexpected(found.error());
  if (!found->extent || !is_uniform(source, *found->extent))
    return fail("the number of elements is not known");
  static const std::set<std::string> kShuffled{"float", "double", "int", "unsigned int"};
  if (!kShuffled.contains(found->type) || mentions(found->address, found->index->getNameAsString()))
    return fail("the result is no single number that can be shuffled");
  for (const auto *reference : find_all<clang::DeclRefExpr>(source.body()))
    if (reference->getDecl()->getName() == "blockIdx" && form.block()[1] != 1)
      return fail("the block is not one-dimensional");
  ArrayReduction result{{}, *found->extent};
  ReduceTask &task = result.task;
  auto value = contribution(form, found->value, found->index, task);
  if (!value)
    return fail("an element's contribution depends on more than arrays at the thread's index");
  task.accumulator = render("$sum", {}, source.taken_names());
  task.accumulator_type = found->type;
  task.initial = identity_text(Combine::Sum, found->type);
  task.counter = found->index->getNameAsString();
  task.index_type = "int";
  task.statement = task.accumulator + " += " + *value + ";";
  task.extent = *to_source(*found->extent);
  task.epilogue = "atomicAdd(" + found->address + ", " + task.accumulator + ");";
  return result;
}

} // namespace

Choices check_array_reduction(const KernelSource &source) {
  auto reduction = match_array_reduction(source);
  if (!reduction)
    return Choices::none(reduction.error().message);
  Choices legal;
  const int all = source.gpu().multiprocessors;
  for (auto [threads, blocks] :
       {std::pair{256, 8 * all}, {256, 4 * all}, {512, 4 * all}, {128, 16 * all}})
    legal.choices.push_back(
        {{"threads", std::to_string(threads)}, {"blocks", std::to_string(blocks)}});
  return legal;
}

Result<Edits> apply_array_reduction(const KernelSource &source, const Parameters &parameters) {
  auto reduction = match_array_reduction(source);
  if (!reduction)
    return std::unexpected(reduction.error());
  const int threads = number(parameters, "threads"), blocks = number(parameters, "blocks");
  auto edits = reshape_launches(
      source, [&](const clang::CUDAKernelCallExpr *launch) -> std::optional<ShapeTexts> {
        auto extent = at_launch(source, launch, reduction->extent);
        if (!extent)
          return std::nullopt;
        const std::string needed = ceil_div_text(*extent, threads * kElementsAThread);
        const std::string grid = parenthesised(*extent) + " < " +
                                 std::to_string(threads * kElementsAThread * blocks) + " ? " +
                                 needed + " : " + std::to_string(blocks);
        return ShapeTexts{{grid, "1", "1"}, {std::to_string(threads), "1", "1"}};
      });
  if (edits)
    edits->push_back(
        source.body_edit(render_array_reduction(reduction->task, source.taken_names())));
  return edits;
}

} // namespace warpwright::generator
