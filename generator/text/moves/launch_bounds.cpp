// launch_bounds(threads, blocks): tells the compiler the block's size and how many blocks should fit, so that it
// may use more registers a thread, or must use fewer.
//
// Legal where every launch has a block of one known size and the kernel has no bounds yet.
#include "generator/text/moves/move_kind.h"

#include <algorithm>

namespace warpwright::generator {

Choices check_launch_bounds(const KernelSource &source) {
  if (source.kernel()->hasAttr<clang::CUDALaunchBoundsAttr>())
    return Choices::none("the kernel has __launch_bounds__ already");
  if (source.launches().empty())
    return Choices::none("there is no launch");
  std::int64_t threads = 0;
  for (const clang::CUDAKernelCallExpr *launch : source.launches()) {
    const LaunchSite site(source, launch);
    std::int64_t product = 1;
    for (int d = 0; d < 3; ++d)
      product *= site.block().value(d).value_or(0);
    threads = std::max(threads, product);
    if (product <= 0 || product > 1024)
      return Choices::none("the block's size is not known");
  }
  if (!source.unit().range_of(clang::SourceRange(source.kernel()->getLocation())))
    return Choices::none("the kernel's name comes from a macro");
  Choices legal;
  for (int blocks : {1, 2, 4, 8})
    if (threads * blocks <= 2048)
      legal.choices.push_back(
          {{"threads", std::to_string(threads)}, {"blocks", std::to_string(blocks)}});
  return legal;
}

Result<Edits> apply_launch_bounds(const KernelSource &source, const Parameters &parameters) {
  auto name = source.unit().range_of(clang::SourceRange(source.kernel()->getLocation()));
  if (!name)
    return fail("the kernel's name comes from a macro");
  const std::string blocks = parameters.at("blocks") == "1" ? "" : ", " + parameters.at("blocks");
  return Edits{{{name->begin, name->begin},
                "__launch_bounds__(" + parameters.at("threads") + blocks + ") "}};
}

} // namespace warpwright::generator
