// Move launch_bounds(threads, blocks): tells the compiler the block size and the number of blocks
// that should fit a multiprocessor, which determines the registers of a thread.
//
// Legal where every launch has a block of one known size and the kernel has no bounds yet.
#include "generator/text/moves/move_kind.h"

#include <algorithm>

namespace warpwright::moves {

Result<Offer> offer_launch_bounds(const source::KernelSource &source) {
  if (source.kernel()->hasAttr<clang::CUDALaunchBoundsAttr>())
    return fail("the kernel has __launch_bounds__ already");
  if (source.all_launches().empty())
    return fail("there is no launch");
  int threads = 0;
  for (const clang::CUDAKernelCallExpr *launch : source.all_launches()) {
    const source::LaunchSite site(source, launch);
    std::int64_t product = 1;
    for (int d = 0; d < 3; ++d)
      product *= site.block().value(d).value_or(0);
    if (product <= 0 || product > 1024)
      return fail("the block's size is not known");
    threads = std::max(threads, static_cast<int>(product));
  }
  const auto name = source.unit().range_of(clang::SourceRange(source.kernel()->getLocation()));
  if (!name)
    return fail("the kernel's name comes from a macro");
  Offer offer;
  for (int blocks : {1, 2, 4, 8})
    if (threads * blocks <= 2048)
      offer.choices.push_back(
          {{"threads", std::to_string(threads)}, {"blocks", std::to_string(blocks)}});
  offer.edits = [begin = name->begin](const Parameters &choice) {
    const std::string blocks = choice.at("blocks") == "1" ? "" : ", " + choice.at("blocks");
    return source::Edits{
        {{begin, begin}, "__launch_bounds__(" + choice.at("threads") + blocks + ") "}};
  };
  return offer;
}

} // namespace warpwright::moves
