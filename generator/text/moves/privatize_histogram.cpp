// Move privatize_histogram(bins): each block counts in shared memory and adds its counts to global
// memory at the end.
//
// The first `bins` counters are private; others go to global memory as before. Only changed
// counters are added, so the move need not know their number. Legal for a guarded kernel with one
// atomicAdd of 4-byte values at an index that depends on data. The gain is largest together with
// grid_stride.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/atomics.h"

#include <algorithm>

namespace warpwright::moves {
namespace {

constexpr std::string_view kBefore = R"cuda(__shared__ $type $private_bins[$bins];
for (int $bin = threadIdx.x; $bin < $bins; $bin += blockDim.x)
  $private_bins[$bin] = 0;
__syncthreads();
)cuda";
constexpr std::string_view kCount = R"cuda({
  const auto $bin = $index;
  if ($bin >= 0 && $bin < $bins)
    atomicAdd(&$private_bins[$bin], $value);
  else
    atomicAdd(&$base[$bin], $value);
})cuda";
constexpr std::string_view kByteCount = "atomicAdd(&$private_bins[$index], $value);";
constexpr std::string_view kAfter = R"cuda(__syncthreads();
for (int $bin = threadIdx.x; $bin < $bins; $bin += blockDim.x)
  if ($private_bins[$bin] != 0)
    atomicAdd(&$base[$bin], $private_bins[$bin]);)cuda";

Result<source::AtomicAdd> match_counter(const source::IndexReader &form) {
  auto atomic = match_atomic_add(form);
  if (!atomic)
    return atomic;
  if (source::has_exit(atomic->guarded.work))
    return fail("the work contains a return or a barrier");
  const std::string &type = atomic->element_type;
  if (type != "int" && type != "unsigned int" && type != "float")
    return fail("the counters are not 4-byte numbers");
  if (!atomic->index || form.source().text_of(atomic->index).empty())
    return fail("the atomicAdd has one address for all threads");
  const auto is_known = [&](const std::string &symbol) {
    return source::is_position(symbol) || form.source().parameter(symbol);
  };
  if (auto index = form.of(atomic->index); index && std::ranges::all_of(index->symbols(), is_known))
    return fail("the atomicAdd's address does not depend on data");
  if (!has_one_dimensional_blocks(form.source()))
    return fail("the block is not one-dimensional");
  return atomic;
}

/// True if the index is a byte, directly or by a local variable.
bool is_byte(const source::KernelSource &source, const clang::Expr *index) {
  index = source::strip_casts(index);
  if (const clang::VarDecl *variable = source::variable_of(index); variable && variable->hasInit())
    index = source::strip_casts(variable->getInit());
  const std::string type = source.type_name(index->getType());
  return type == "unsigned char" || type == "uint8_t";
}

} // namespace

Result<Offer> offer_privatize_histogram(const source::KernelSource &source) {
  const auto atomic = match_counter(source::IndexReader(source));
  if (!atomic)
    return std::unexpected(atomic.error());
  const bool by_byte = is_byte(source, atomic->index);
  const auto edits = [&source, by_byte,
                      atomic = *atomic](const Parameters &choice) -> Result<source::Edits> {
    const source::Bindings bindings{{"type", atomic.element_type},
                                    {"bins", choice.at("bins")},
                                    {"index", source.text_of(atomic.index)},
                                    {"value", atomic.value},
                                    {"base", atomic.base->getNameAsString()}};
    const std::set<std::string> &taken = source.taken_names();
    const std::string count =
        source::indent(source::render(by_byte ? kByteCount : kCount, bindings, taken),
                       indentation_at(source.text(), atomic.statement.begin), source.indent_step());
    auto work = atomic.guarded.work_text(
        source, {{atomic.statement, count.substr(count.find_first_not_of(" \t"))}});
    if (!work)
      return std::unexpected(work.error());
    return source::Edits{atomic.guarded.replace(
        source, source::render(kBefore, bindings, taken) + atomic.guard_text(*work) +
                    source::render(kAfter, bindings, taken))};
  };
  return Offer{choices_of("bins", by_byte ? std::vector{256} : std::vector{256, 1024, 4096}),
               edits};
}

} // namespace warpwright::moves
