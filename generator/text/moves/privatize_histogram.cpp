// privatize_histogram(bins): a block counts in shared memory and adds its counts to global memory at the end.
//
// The first `bins` counters are private; others go to global memory as before, and only counters that were
// touched are added, so the move needs no knowledge of how many there are. Legal for a guarded kernel with one
// atomicAdd of 4-byte values at an index that depends on data. Pays most together with grid_stride.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/atomics.h"
#include "generator/text/source/render.h"

namespace warpwright::generator {

namespace {

struct Plan {
  Guarded guarded;
  AtomicAdd atomic;
  std::string index; ///< as written
  bool is_byte = false;
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
  static const std::set<std::string> kCounters{"int", "unsigned int", "float"};
  if (!kCounters.contains(atomic->element_type))
    return fail("the counters are not 4-byte numbers");
  Plan plan{*guarded, *atomic, atomic->index ? form.source().text_of(atomic->index) : ""};
  if (plan.index.empty())
    return fail("the atomicAdd has one address for all threads");
  if (auto index = form.of(atomic->index)) {
    bool by_data = false;
    for (const std::string &symbol : index->symbols())
      by_data |= !is_position(symbol) && !form.source().parameter(symbol);
    if (!by_data)
      return fail("the atomicAdd's address does not depend on data");
  }
  const clang::Expr *index = strip_casts(atomic->index);
  if (const clang::VarDecl *variable = variable_of(index); variable && variable->hasInit())
    index = strip_casts(variable->getInit());
  const std::string type = index->getType().getUnqualifiedType().getAsString(
      form.source().unit().context().getPrintingPolicy());
  plan.is_byte = type == "unsigned char" || type == "uint8_t";
  return plan;
}

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

} // namespace

Choices check_privatize_histogram(const KernelSource &source) {
  const IndexReader form(source);
  auto plan = make_plan(form);
  if (!plan)
    return Choices::none(plan.error().message);
  for (const clang::CUDAKernelCallExpr *launch : source.launches())
    if (!LaunchSite(source, launch).block().is_one_dimensional())
      return Choices::none("the block is not one-dimensional");
  return {choices_of("bins", plan->is_byte ? std::vector{256} : std::vector{256, 1024, 4096}), {}};
}

Result<Edits> apply_privatize_histogram(const KernelSource &source, const Parameters &parameters) {
  const IndexReader form(source);
  auto plan = make_plan(form);
  if (!plan)
    return std::unexpected(plan.error());
  const Bindings bindings{{"type", plan->atomic.element_type},
                          {"bins", parameters.at("bins")},
                          {"index", plan->index},
                          {"value", plan->atomic.value},
                          {"base", plan->atomic.base->getNameAsString()}};
  const std::set<std::string> &taken = source.taken_names();
  const std::size_t begin = plan->atomic.statement.begin;
  const std::string count = indent(render(plan->is_byte ? kByteCount : kCount, bindings, taken),
                                   indentation_at(source.text(), begin), source.indent_step());
  auto work = plan->guarded.work_text(
      source, {{plan->atomic.statement, count.substr(count.find_first_not_of(" \t"))}});
  if (!work)
    return std::unexpected(work.error());
  const std::string text = render(kBefore, bindings, taken) + guard_text(plan->guarded, *work) +
                           render(kAfter, bindings, taken);
  return Edits{replace_guarded(source, plan->guarded, text)};
}

} // namespace warpwright::generator
