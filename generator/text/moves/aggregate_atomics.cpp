// aggregate_atomics(scope): one atomicAdd a warp or a block instead of one a thread, when all go to one address.
//
// Each thread adds up privately, shuffles combine. Legal for a guarded kernel with one atomicAdd whose address is
// the same for all threads and whose result is unused, in blocks of a known multiple of 32.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/atomics.h"
#include "generator/text/source/render.h"
#include "generator/text/templates/reduce.h"

namespace warpwright::generator {

namespace {

struct Plan {
  Guarded guarded;
  AtomicAdd atomic;
};

Result<Plan> make_plan(const IndexReader &form) {
  auto guarded = match_guarded(form);
  if (!guarded)
    return std::unexpected(guarded.error());
  auto atomic = only_atomic_add(form, *guarded);
  if (!atomic)
    return std::unexpected(atomic.error());
  for (const clang::Stmt *statement : guarded->work)
    if (has_return(statement) || has_collective(statement))
      return fail("the work contains a return or a barrier");
  if (atomic->index) {
    auto index = form.of(atomic->index);
    if (!index)
      return fail("the atomicAdd's address depends on data");
    for (const std::string &symbol : index->symbols())
      if (is_position(symbol) || !form.source().parameter(symbol))
        return fail("the atomicAdd's address differs between threads");
  }
  static const std::set<std::string> kShuffled{"float", "double", "int", "unsigned int",
                                               "unsigned long long"};
  if (!kShuffled.contains(atomic->element_type))
    return fail("values of type " + atomic->element_type + " cannot be shuffled");
  const auto block = form.block();
  if (!block[0] || block[1] != 1 || block[2] != 1 || *block[0] % 32 != 0 || *block[0] > 1024)
    return fail("the block is not known to be whole warps in one dimension");
  return Plan{*guarded, *atomic};
}

} // namespace

Choices check_aggregate_atomics(const KernelSource &source) {
  const IndexReader form(source);
  auto plan = make_plan(form);
  if (!plan)
    return Choices::none(plan.error().message);
  return {{{{"scope", "block"}}, {{"scope", "warp"}}}, {}};
}

Result<Edits> apply_aggregate_atomics(const KernelSource &source, const Parameters &parameters) {
  const IndexReader form(source);
  auto plan = make_plan(form);
  if (!plan)
    return std::unexpected(plan.error());
  const AtomicAdd &atomic = plan->atomic;
  const std::string partial = render("$partial", {}, source.taken_names());
  auto work =
      plan->guarded.work_text(source, {{atomic.statement, partial + " += " + atomic.value + ";"}});
  if (!work)
    return std::unexpected(work.error());
  const bool by_block = parameters.at("scope") == "block";
  std::string text = atomic.element_type + " " + partial + " = " +
                     identity_text(Combine::Sum, atomic.element_type) + ";\n";
  text += guard_text(plan->guarded, *work);
  text += by_block ? render_block_combine(Combine::Sum, atomic.element_type, partial)
                   : render_warp_combine(Combine::Sum, atomic.element_type, partial);
  text += std::string("if (threadIdx.x") + (by_block ? "" : " % 32") + " == 0)\n  atomicAdd(" +
          atomic.address + ", " + partial + ");";
  return Edits{replace_guarded(source, plan->guarded, text)};
}

} // namespace warpwright::generator
