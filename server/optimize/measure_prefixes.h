// Measurement of a variant with fewer of its moves, so that the contribution of each move is known
// (server/ablation.h).
#pragma once

#include "generator/search/search.h"

#include <chrono>

namespace warpwright::server {

/// Tries the prefixes of the fastest variant's moves that the search did not try, shortest first,
/// until `deadline`. Does nothing if no variant is faster, if the fastest has one move, or if its
/// proposer wrote it as a whole.
void measure_prefixes(const source::State &original, const model::Task &task,
                      const std::vector<search::Variant> &tried, const search::TextSearchEvents &events,
                      std::chrono::steady_clock::time_point deadline, std::stop_token stop);

} // namespace warpwright::server
