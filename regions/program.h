// A region's ATen program: the operators of a region with names, devices and strides gone, so that equal layers have equal programs.
//
// It is the region's meaning: the reference that plans are verified against, what runs where a plan cannot, and the key that records are
// found by. Inputs and outputs are contiguous. A tensor that lies in memory in another order of dimensions is permuted on either side of
// the border, which moves no data.
#pragma once

#include "regions/graph.h"

namespace warpwright::regions {

/// How the caller hands a value over: as it is, permuted, or copied.
struct Border {
  std::string name;               ///< of the value in the compiler's graph
  std::vector<std::size_t> order; ///< dimensions by falling stride; empty: as they are
  bool is_copied = false;         ///< no order makes it contiguous: it is copied
};

struct Program {
  /// {"inputs": [{"dtype", "shape", "order"}], "operators": [{"op", "args", "kwargs", "results"}], "outputs": [{"value": [k, i],
  /// "order"}]}: {"v": [k, i]} reads the i-th result of k, where inputs come before operators. `order` is the caller's permutation.
  nlohmann::json document;
  std::vector<Border> inputs, outputs;
  int operators = 0; ///< those that compute: no views
};

/// The program of nodes that may form a region, in the order given.
/// @param indices into graph.nodes
/// Errors: an output that no order of dimensions makes contiguous; no input; an input whose size is unknown, or that is on another device.
Result<Program> program_of(const Graph &graph, const std::vector<std::size_t> &indices);

/// SHA-256 of the program, hex.
std::string key_of(const nlohmann::json &program);

/// The program as a Python file with `Model`, `get_inputs` and `get_init_inputs`, which runners trace and verify against.
/// @param profile by input, as a real call had them: {"low", "high"} of integers, {"mean", "std", "low"} of others; null: unknown
std::string python_of(const nlohmann::json &program, const nlohmann::json &profile);

} // namespace warpwright::regions
