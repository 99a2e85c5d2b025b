// Device code of reductions: what a thread accumulates, how accumulators merge, and vector accesses.
//
// Every accumulator is a plain struct with identity(), add(values, valid), merge(other), shuffled(lane mask); merging is in a fixed
// order, so that results are the same each time. Variances are Chan, Golub and LeVeque's merge of (count, mean, sum of squared
// deviations), each thread's share two-pass over what it has in registers. Thread: constants.
#pragma once

namespace warpwright::families::rows {

/// Once a source; guarded by the preprocessor, so several regions may bring it.
const char *row_prelude();
/// Additional code for rows over a cluster of blocks; PTX of sm_90 and up.
const char *row_cluster_prelude();
/// Additional code for rows over a gang of blocks: blocks that wait for each other in global memory.
const char *row_gang_prelude();

} // namespace warpwright::families::rows
