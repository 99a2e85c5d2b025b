// Kernels that an author outside this project, such as a language model, wrote for one region of a
// plan.
//
// They take the place of a family's: a plan over the region's buffers, "in0", "in1", ... and "out0",
// ..., and over its temporaries. The plan builder names the buffers and places the source in a
// namespace. A runner decides about the whole plan whether the kernels are right.
#pragma once

#include "generator/elements/family.h"
#include "support/model/task.h"

namespace warpwright::planning {

struct WrittenRegion {
  /// region_signature() of the region that the kernels are for. Another region cannot have them.
  std::string signature;
  model::Plan kernels; ///< fits region_task()
  bool operator==(const WrittenRegion &) const = default;
};

/// One line for each buffer of a region: "in0: const float *, shape 64x96, contiguous".
std::string region_interface(const ops::GraphIndex &graph, const elements::Region &region);

/// The interface and the nodes, without the names of values. Regions with equal texts compute the
/// same from their buffers.
std::string region_signature(const ops::GraphIndex &graph, const elements::Region &region);

/// Task with the buffers of a region at these sizes, to check written kernels against
/// (model::check_plan).
model::Task region_task(const ops::GraphIndex &graph, const elements::Region &region);

/// A source as a part of a larger one.
struct PlacedSource {
  std::string includes; ///< its `#include` lines
  /// The rest in a namespace, without `extern "C"`. Compilers count its lines as the author does.
  std::string body;
};
PlacedSource in_namespace(const std::string &source, const std::string &name);

/// Lowers a region by written kernels; the source is left out.
/// @param space namespace of the source @param prefix of temporaries
/// Errors: the kernels are for another region.
Result<elements::Lowering> lower_written(const ops::GraphIndex &graph,
                                         const elements::Region &region,
                                         const WrittenRegion &written, const std::string &space,
                                         const std::string &prefix);

} // namespace warpwright::planning
