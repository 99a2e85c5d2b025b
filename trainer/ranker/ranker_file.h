// File of a ranker's weights: a line of format, version and hash, a line of JSON, then the forests'
// arrays.
//
//   warpwright-ranker 1 SHA256-OF-THE-REST
//   {"features": [..], "pairs": [[a, b], ..], "forests": [["order", trees, nodes], ..], ...}
//   for each forest, little-endian: uint32 roots[trees], then nodes of 8 bytes {float, uint16, uint16}
//
// A file is not trusted: its size, its hash and every index are checked before use. Thread: any.
#pragma once

#include "trainer/ranker/ranker.h"

namespace warpwright::trainer {

/// Counts changes of the format, and of the meaning of any feature.
inline constexpr int kRankerVersion = 1;

std::string to_file(const RankerWeights &weights);
/// Errors: another format or version, a torn or damaged file; each with what to do.
Result<RankerWeights> ranker_from_file(const std::string &bytes);

/// Errors: as ranker_from_file(), and a file that cannot be read; all with the path.
Result<Ranker> load_ranker(const std::string &path);
Result<void> save_ranker(const RankerWeights &weights, const std::string &path);

} // namespace warpwright::trainer
