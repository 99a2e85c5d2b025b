// grid_stride(blocks): a thread loops over elements a whole grid apart, and the grid is capped.
//
// Fewer blocks start, and what a thread sets up once serves many elements. Legal for a guarded element-wise
// kernel without barriers or early exits in the work. Leaves out kernels over two dimensions.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/guarded.h"
#include "generator/text/source/render.h"

namespace warpwright::generator {

Choices check_grid_stride(const KernelSource &source) {
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
    return Choices::none("there is no launch whose grid could be capped");
  const int all = source.gpu().multiprocessors;
  return {choices_of("blocks", {4 * all, 8 * all, 16 * all}), {}};
}

Result<Edits> apply_grid_stride(const KernelSource &source, const Parameters &parameters) {
  const IndexReader form(source);
  auto guarded = match_guarded(form);
  if (!guarded)
    return std::unexpected(guarded.error());
  auto work = guarded->work_text(source);
  if (!work)
    return std::unexpected(work.error());
  const std::string open = guarded->has_braces ? " {" : "",
                    close = guarded->has_braces ? "\n}" : "";
  const std::string text = "for (" + guarded->type + " " + guarded->name + " = " + guarded->start +
                           "; " + guarded->name + " < " + guarded->bound + "; " + guarded->name +
                           " += blockDim.x * gridDim.x)" + open + "\n  " + deepen(*work, "  ") +
                           close;
  Edits edits{replace_guarded(source, *guarded, text)};
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    const std::string blocks = parameters.at("blocks"), grid = as_summand(site.grid().text(0));
    add_edits(edits, site.grid().replace(0, grid + " < " + blocks + " ? " + grid + " : " + blocks));
  }
  return edits;
}

} // namespace warpwright::generator
