// Move aggregate_atomics(scope): one atomicAdd for each warp or block in place of one for each
// thread, when all go to one address.
//
// Each thread sums privately, then shuffles combine the sums. Legal for a guarded kernel with one
// atomicAdd whose address is the same for all threads and whose result is unused, with a block size
// that is a known multiple of 32.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/atomics.h"
#include "generator/text/templates/reduce.h"

namespace warpwright::moves {
namespace {

Result<source::AtomicAdd> match_common_address(const source::IndexReader &form) {
  auto atomic = match_atomic_add(form);
  if (!atomic)
    return atomic;
  if (source::has_exit(atomic->guarded.work))
    return fail("the work contains a return or a barrier");
  if (atomic->index) {
    auto index = form.of(atomic->index);
    if (!index)
      return fail("the atomicAdd's address depends on data");
    for (const std::string &symbol : index->symbols())
      if (source::is_position(symbol) || !form.source().parameter(symbol))
        return fail("the atomicAdd's address differs between threads");
  }
  if (!source::is_shuffled(atomic->element_type) && atomic->element_type != "unsigned long long")
    return fail("values of type " + atomic->element_type + " cannot be shuffled");
  if (!form.has_whole_warps() || *form.block()[0] > 1024)
    return fail("the block is not known to be whole warps in one dimension");
  return atomic;
}

} // namespace

Result<Offer> offer_aggregate_atomics(const source::KernelSource &source) {
  const auto edits = [&source](const source::AtomicAdd &atomic,
                               const Parameters &choice) -> Result<source::Edits> {
    const std::string partial = source::fresh_name("partial", source.taken_names());
    auto work = atomic.guarded.work_text(
        source, {{atomic.statement, partial + " += " + atomic.value + ";"}});
    if (!work)
      return std::unexpected(work.error());
    const bool by_block = choice.at("scope") == "block";
    const std::string &type = atomic.element_type;
    const std::string text =
        type + " " + partial + " = " + identity_text(source::Combine::Sum, type) + ";\n" +
        atomic.guard_text(*work) +
        (by_block ? templates::render_block_combine(source::Combine::Sum, type, partial)
                  : templates::render_warp_combine(source::Combine::Sum, type, partial)) +
        "if (threadIdx.x" + (by_block ? "" : " % 32") + " == 0)\n  atomicAdd(" + atomic.address +
        ", " + partial + ");";
    return source::Edits{atomic.guarded.replace(source, text)};
  };
  return offer_of(match_common_address(source::IndexReader(source)),
                  {{{"scope", "block"}}, {{"scope", "warp"}}}, edits);
}

} // namespace warpwright::moves
