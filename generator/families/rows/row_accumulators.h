// Device code of reductions: accumulators of a thread, how they merge, and vector accesses.
//
// Each accumulator is a plain struct with identity(), add(values, valid), merge(other) and shuffled(lane mask). Merging
// has a fixed order, so results repeat exactly. Variances use Chan, Golub and LeVeque's merge of (count, mean, sum of
// squared deviations); each thread computes its share in two passes over registers.
#pragma once

namespace warpwright::families::rows {

/// Base code, once per source; preprocessor guards allow several regions to include it.
const char *row_prelude();
/// Additional code for rows shared by a cluster of blocks; needs PTX of sm_90 or later.
const char *row_cluster_prelude();
/// Additional code for rows shared by a gang, that is, blocks that wait for each other through global memory.
const char *row_gang_prelude();

} // namespace warpwright::families::rows
