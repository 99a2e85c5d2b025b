// coarsen(factor): each thread does several elements, a block apart, so that a warp's accesses stay coalesced.
//
// More loads in flight a thread and fewer blocks. Legal for a guarded element-wise kernel without barriers or
// early exits in the work; a kernel that loops over its grid takes unroll instead.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/guarded.h"
#include "generator/text/source/render.h"

namespace warpwright::generator {

Choices check_coarsen(const KernelSource &source) {
  const IndexReader form(source);
  auto guarded = match_guarded(form);
  if (!guarded)
    return Choices::none(guarded.error().message);
  if (guarded->is_loop)
    return Choices::none("the kernel already loops over the grid");
  for (const clang::Stmt *statement : guarded->work)
    if (has_return(statement) || has_collective(statement))
      return Choices::none("the work contains a return or a barrier");
  if (source.launches().empty())
    return Choices::none("there is no launch whose grid could shrink");
  for (const clang::CUDAKernelCallExpr *launch : source.launches())
    if (!LaunchSite(source, launch).block().is_one_dimensional())
      return Choices::none("the block is not one-dimensional");
  return {choices_of("factor", {2, 4, 8}), {}};
}

Result<Edits> apply_coarsen(const KernelSource &source, const Parameters &parameters) {
  const IndexReader form(source);
  auto guarded = match_guarded(form);
  if (!guarded)
    return std::unexpected(guarded.error());
  auto work = guarded->work_text(source);
  if (!work)
    return std::unexpected(work.error());
  const std::string factor = parameters.at("factor");
  const std::string open = guarded->has_braces ? " {" : "",
                    close = guarded->has_braces ? "\n  }" : "";
  // An index of 64 bits may be past 32 of them.
  const clang::QualType type = guarded->index->getType();
  const bool wide = source.unit().context().getTypeSize(type) > 32;
  const std::string block = wide ? "(" + guarded->type + ")blockIdx.x" : "blockIdx.x";
  const std::string text =
      render("#pragma unroll\nfor (int $step = 0; $step < $factor; ++$step) {\n"
             "  const $type $i = ($block * $factor + $step) * blockDim.x + threadIdx.x;\n"
             "  if ($i < $bound)$open\n    $work$close\n}",
             {{"factor", factor},
              {"block", block},
              {"type", guarded->type},
              {"i", guarded->name},
              {"bound", guarded->bound},
              {"open", open},
              {"close", close},
              {"work", deepen(*work, "    ")}},
             source.taken_names());
  Edits edits{replace_guarded(source, *guarded, text)};
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    add_edits(edits, site.grid().replace(0, "(" + as_summand(site.grid().text(0)) + " + " +
                                                std::to_string(number(parameters, "factor") - 1) +
                                                ") / " + factor));
  }
  return edits;
}

} // namespace warpwright::generator
