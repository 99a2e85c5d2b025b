// Device functions that belong to one kernel, so that a move may edit them with it.
//
// Programs often keep the arithmetic of a kernel in functions that it calls. An edit of such a function
// is verified with the kernel, if no other code calls it.
#pragma once

#include "generator/text/source/kernel_source.h"

namespace warpwright::source {

/// The kernel's body, then the bodies of the device functions that only this kernel runs, directly or by
/// each other. They are functions of the state's texts: not methods, not lambdas, and not callable by the
/// host. Only the kernel's body if further files include the kernel's.
std::vector<const clang::Stmt *> own_bodies(const KernelSource &source);

/// All nodes of a class in these bodies.
template <class Node>
std::vector<const Node *> find_all(const std::vector<const clang::Stmt *> &bodies) {
  std::vector<const Node *> found;
  for (const clang::Stmt *body : bodies)
    for (const Node *node : find_all<Node>(body))
      found.push_back(node);
  return found;
}

} // namespace warpwright::source
