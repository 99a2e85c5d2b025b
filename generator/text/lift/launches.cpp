// Edits of launches for templates, from the arguments that the user's launches pass; see launches.h.
#include "generator/text/lift/launches.h"

#include "generator/text/source/launch_site.h"

namespace warpwright::lift {
namespace {

/// Text of a polynomial at a launch, with arguments in place of parameters; nullopt when an argument
/// cannot be read.
std::optional<std::string> at_launch(const source::KernelSource &source,
                                     const clang::CUDAKernelCallExpr *launch,
                                     const symbolic::Polynomial &value) {
  std::map<std::string, std::string> names;
  for (const std::string &symbol : value.symbols()) {
    auto argument = source.argument_text(launch, symbol);
    if (!argument)
      return std::nullopt;
    names[symbol] = *argument;
  }
  return source::to_source(value, names);
}

} // namespace

Result<source::Edits>
replace_kernel(const source::KernelSource &source, const std::string &body,
               const std::vector<symbolic::Polynomial> &sizes,
               const std::function<ShapeTexts(const std::vector<std::string> &)> &shape) {
  source::Edits edits;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const source::LaunchSite site(source, launch);
    std::vector<std::string> texts;
    for (const symbolic::Polynomial &size : sizes) {
      auto text = at_launch(source, launch, size);
      if (!text)
        return fail("the launch's arguments cannot be read");
      texts.push_back(std::move(*text));
    }
    const ShapeTexts wanted = shape(texts);
    source::add_edits(edits, site.grid().replace(wanted.grid, site.arguments_declared_at()));
    source::add_edits(edits, site.block().replace(wanted.block));
  }
  edits.push_back(source.body_edit(body));
  return edits;
}

Result<source::Edits> replace_by_tiles(const source::KernelSource &source, const std::string &body,
                                       const Tiling &tiling) {
  return replace_kernel(
      source, body, {tiling.rows, tiling.cols}, [&](const std::vector<std::string> &sizes) {
        return ShapeTexts{
            {source::ceil_div_text(sizes[1], tiling.tile_cols),
             source::ceil_div_text(sizes[0], tiling.tile_rows), "1"},
            {std::to_string(tiling.threads_x), std::to_string(tiling.threads_y), "1"}};
      });
}

std::string refuses_templates(const source::KernelSource &source) {
  if (!source.can_change_launches())
    return "there is no launch to reshape";
  for (const clang::CUDAKernelCallExpr *launch : source.launches())
    if (source::LaunchSite(source, launch).has_shared_bytes())
      return "the launch has dynamic shared memory";
  if (source.kernel()->hasAttr<clang::CUDALaunchBoundsAttr>())
    return "__launch_bounds__ fixes the block";
  if (source.kernel()->getTemplatedKind() != clang::FunctionDecl::TK_NonTemplate)
    return "the kernel is a template";
  if (source.body_text().contains("#if"))
    return "the kernel has conditional compilation";
  return {};
}

} // namespace warpwright::lift
