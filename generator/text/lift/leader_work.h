// Where a group of threads runs one thread's statements: the parts that store, and so must run in one
// thread of the group only.
//
//   out[i] = sum;      becomes      if (lane == 0)
//                                     out[i] = sum;
#pragma once

#include "generator/text/lift/parallel_loop.h"

namespace warpwright::lift {

/// Neighboring statements that one thread runs.
struct LeaderRun {
  std::vector<const clang::Stmt *> statements;
  bool needs_barriers = false; ///< the group reads elsewhere what it stores
  bool is_bare = false;        ///< it is the body of a loop or the branch of an `if`, without braces
  bool needs_braces = false;   ///< it is such a branch, and the `if` has an `else`
};

/// The runs below `root` outside of the loops `shared`, which run in all threads.
/// Errors: all threads would need a value that comes from a store, such as an atomic's result.
Result<std::vector<LeaderRun>> leader_runs(const source::IndexReader &form, const clang::Stmt *root,
                                           const std::set<const clang::Stmt *> &shared);

/// True if the code stores to an array that the kernel uses outside of it, too.
bool stores_are_used_elsewhere(const source::IndexReader &form, const std::vector<const clang::Stmt *> &statements);

} // namespace warpwright::lift
