// A group of threads that runs one thread's statements together: each shares the iterations of the
// parallel loops, all compute the rest, and the first one stores.
#pragma once

#include "generator/text/lift/leader_work.h"
#include "generator/text/source/render.h"
#include "generator/text/templates/thread_group.h"

namespace warpwright::lift {

/// A loop to share, and what is around it.
struct SharedLoop {
  ParallelLoop loop;
  bool needs_braces = false; ///< it is the body of a loop or the branch of an `if`, without braces
  bool is_nested = false;    ///< another loop below the root runs it several times
};

/// The outermost parallel loops below `root` that have work for so many threads and whose results
/// can be combined. Errors: the reason why there is none.
Result<std::vector<SharedLoop>> shared_loops(const source::IndexReader &form, const clang::Stmt *root, int threads);

/// The work of a group of threads that replaces one thread.
struct GroupWork {
  templates::ThreadGroup group;
  std::vector<SharedLoop> loops;
  std::vector<LeaderRun> runs;
  bool ends_loops_with_barrier = false; ///< behind each loop, also where nothing shows the need
};

/// Edits of the loops and of what the first thread runs. Errors: code from a macro.
Result<source::Edits> group_edits(const source::IndexReader &form, const GroupWork &work);

/// The reason why no group can run the code; empty: none.
std::string refuses_groups(const source::KernelSource &source);

} // namespace warpwright::lift
