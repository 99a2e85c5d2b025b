// A family: a parameterized CUDA template for one kind of region. Each has its own file and is listed in registry.cpp.
// A family says which anchors it lowers and in which configurations (tile sizes, threads, stages; a search or a policy
// chooses one, best guess first), and writes source and steps for one of them. It may guess what is fast; the runner
// measures. It depends on no names, files or constants of any benchmark.
#pragma once

#include "arch/gpu.h"
#include "generator/elements/element_writer.h"

#include <map>
#include <set>
#include <span>

namespace warpwright::elements {

/// The device and its settings, on which configurations depend besides the graph.
struct DeviceFacts : arch::Gpu {
  DeviceFacts(arch::Gpu gpu, bool may_use_tf32 = true)
      : arch::Gpu(std::move(gpu)), tf32(may_use_tf32) {}
  /// True where float32 convolutions may multiply in TF32: where PyTorch's own do, which only a run tells.
  bool tf32;
  int fast_math = 3; ///< the most of PlanChoices::fast_math that results allow, which only a run tells
};

/// Settings by name: "threads" -> 256, "vector" -> 4.
using Configuration = std::map<std::string, int>;

/// A kernel that only calls a device function `function(block, blocks, parameters...)` with its block's number and the
/// number of blocks, so that another kernel may call it too (planning/joined_launches.h).
struct KernelBody {
  struct Parameter {
    std::string type, name; ///< "const float *__restrict__ ", "in0"
  };
  std::string function;
  std::vector<Parameter> parameters;
  std::string kernel_text;  ///< of the kernel, as the source holds it
  bool takes_fewer = false; ///< threads of a larger block may leave it out: they do not wait for each other
};

/// Type and name of each parameter of a kernel, of declarations such as "const float *in0, float *out0".
std::vector<KernelBody::Parameter> parameters_in(const std::string &declarations);
/// The names as arguments: "in0, out0".
std::string names_of(const std::vector<KernelBody::Parameter> &parameters);

struct Lowering {
  std::string source; ///< kernels as extern "C" __global__, names starting with the region's prefix
  std::vector<model::Step> steps;
  std::vector<model::Temporary>
      temporaries; ///< beyond the values of the graph, names starting with the prefix
  std::map<std::string, KernelBody> bodies = {}; ///< by kernels; those that have one
};

/// Name that stands in place of a family's where the region is a call of PyTorch's operator.
inline constexpr char kLibraryFamily[] = "aten";

struct Family {
  std::string_view name; ///< "softmax"
  /// Returns true where the family lowers regions that this node anchors.
  bool (*claims)(const ops::GraphIndex &graph, const model::Node &anchor);
  /// True where fusion may put nodes before, or behind, the anchor.
  bool takes_prologue, takes_epilogue;
  /// Returns the possible configurations: at least one, the best guess first.
  std::vector<Configuration> (*configurations)(const ops::GraphIndex &, const Region &,
                                               const DeviceFacts &);
  /// @param prefix a C identifier, unique in the plan
  /// Errors: a region or configuration that the family cannot write, with the reason.
  Result<Lowering> (*lower)(const ops::GraphIndex &, const Region &, const Configuration &,
                            const DeviceFacts &, const std::string &prefix);
  /// Returns about the microseconds of the anchor by itself in the best configuration; null for families that share no
  /// anchors.
  double (*estimate)(const ops::GraphIndex &, const model::Node &anchor,
                     const DeviceFacts &) = nullptr;
  /// Returns the largest region around an anchor that the family writes as one kernel, of nodes that are not `taken`.
  /// Null: fusion puts pointwise nodes before and behind the anchor.
  Region (*grow)(const ops::GraphIndex &, const std::string &anchor,
                 const std::set<std::string> &taken) = nullptr;
  bool ordinary_cores = false; ///< multiplies without tensor cores
  bool short_sums = false;     ///< for convolutions that add few products
  bool keeps_layout = false;   ///< reads and writes contiguous and channels-last memory alike
  bool channels_last = false;  ///< for convolutions whose images, weights and results are all channels-last
  /// Returns about the microseconds of PyTorch's operator for the anchor. Null: the library is not the first guess.
  double (*library_estimate)(const ops::GraphIndex &, const model::Node &anchor,
                             const DeviceFacts &) = nullptr;
  /// The anchor's first operands that are read as views of memory (memory_view.h); those behind them may be computed.
  std::size_t strided_operands = 0;
  /// Returns the `cat` nodes among those operands that the family reads as their parts, and stores where others want them.
  /// Null: none.
  std::vector<std::string> (*cats)(const ops::GraphIndex &, const model::Node &anchor) = nullptr;
};

} // namespace warpwright::elements
