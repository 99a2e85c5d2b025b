// A region's ATen program: its operators without names, devices and strides, so that equal layers have equal programs.
//
// The program defines the region: plans are verified against it, it runs where no plan can, and its hash is the key of
// the region's records. Inputs and outputs are contiguous. A tensor with another order of dimensions in memory is
// permuted on both sides of the region's border, which moves no data.
#pragma once

#include "regions/graph.h"

namespace warpwright::regions {

/// A value that the caller passes to or receives from a region: unchanged, permuted or copied.
struct Border {
  std::string name;               ///< name in the compiler's graph
  std::vector<std::size_t> order; ///< dimensions by falling stride; empty: no permutation
  bool is_copied = false;         ///< no order makes the value contiguous
};

struct Program {
  /// {"inputs": [{"dtype", "shape", "order"}], "operators": [{"op", "args", "kwargs", "results"}], "outputs":
  /// [{"value": [k, i], "order"}]}. {"v": [k, i]} reads result i of k; k counts inputs, then operators. {"size": TERMS}
  /// is an integer that depends on the symbols "n0", "n1", ... An input that holds indices has "below", their limit; offsets of
  /// bags have "ascending": true. An
  /// attention whose query heads share keys has "grouped_heads": true.
  nlohmann::json document;
  std::vector<std::string> symbols; ///< the graph's names of "n0", "n1", ...
  std::vector<Border> inputs, outputs;
  int operators = 0; ///< computing operators, views not counted
};

/// The program of nodes that may form a region. @param indices into graph.nodes, in the order of execution
/// Errors: an output that no order of dimensions makes contiguous; no input; an input of unknown size or on another
/// device; attention with a bias whose length depends on a symbol.
Result<Program> program_of(const Graph &graph, const std::vector<std::size_t> &indices);

/// SHA-256 of the program in hex digits.
std::string key_of(const nlohmann::json &program);

/// The program as a Python file with `Model`, `get_inputs` and `get_init_inputs`, for tracing and verification.
/// @param sizes names of the program's symbols. With any, `Model` and `get_inputs` take their numbers in this order
/// @param profile for each input of a real call what profile_of() of runtime/warpwright/jobs.py gives; null: unknown
std::string python_of(const nlohmann::json &program, const nlohmann::json &profile, const std::vector<std::string> &sizes = {});

} // namespace warpwright::regions
