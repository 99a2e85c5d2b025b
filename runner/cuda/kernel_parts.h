// Division of a source into one part for each kernel: the kernel with the declarations that it
// names, directly or through others. Parts compile on several cores, and plans that have a kernel in
// common share its code. Thread: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner::cuda {

struct KernelPart {
  std::string source;
  /// As the part names it. Numbers that the plan builder puts into names ("k7_matmul") are counted anew in each part, so
  /// that equal kernels of different plans have equal parts.
  std::string kernel;
};

/// Divides the source of a plan that says model::Plan::separable.
/// @param kernels names without template arguments or namespaces
/// @return parts in the order of `kernels`; nullopt: a name is no kernel of the source, a variable is shared by kernels,
/// or the text is of a form that this scanner does not know
std::optional<std::vector<KernelPart>> kernel_parts(const std::string &source,
                                                    const std::vector<std::string> &kernels);

} // namespace warpwright::runner::cuda
