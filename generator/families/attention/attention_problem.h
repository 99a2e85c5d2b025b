// An attention node as its kernel sees it: groups of heads that share keys, their rows and keys, and
// the operands' memory.
#pragma once

#include "generator/elements/family.h"
#include "generator/elements/memory_view.h"

#include <optional>

namespace warpwright::families::attention {

/// Rows in one memory, whose elements are neighbors and begin at multiples of 16 bytes.
struct Rows {
  std::string buffer;             ///< of Region::inputs, or a stored `cat`
  std::int64_t offset = 0;        ///< in elements, as are the strides
  model::Shape batches;           ///< strides of AttentionProblem::batch
  std::int64_t head = 0, row = 0; ///< strides from head to head of a group, and from row to row
};

/// Keys or values: rows in one memory, or those of a `cat` in that of its two parts.
struct Parts {
  Rows first;
  std::optional<Rows> second;
  std::int64_t rows_of_first = 0;
  std::optional<Rows> kept; ///< where the kernel stores the `cat`
};

struct AttentionProblem {
  model::Shape batch;     ///< the dimensions before rows, with the heads of keys last
  std::int64_t heads = 1; ///< query heads that share a head of keys
  std::int64_t queries = 1, keys = 1;
  int depth = 0, width = 0; ///< head sizes of keys and values
  bool causal = false, bfloat16 = false;
  double scale = 1, softcap = 0; ///< 0: no cap
  std::string mask;              ///< value; empty: none
  Rows q;
  Parts k, v;

  std::int64_t batches() const { return model::elements_of(batch); }
  std::int64_t rows() const { return heads * queries; }
  /// True if scores are scaled where they are changed, and not by the softmax.
  bool changes_scores() const { return softcap != 0 || !mask.empty(); }
};

/// The `cat` nodes of two parts along rows that an attention of few rows reads as keys or values.
std::vector<std::string> cats_of(const ops::GraphIndex &graph, const model::Node &anchor);

/// Errors: operands that the kernel cannot read, with the reason.
Result<AttentionProblem> attention_problem(const ops::GraphIndex &graph,
                                           const elements::Region &region);

/// A configuration, and an estimate of its time in microseconds.
struct Guess {
  double us = 0;
  elements::Configuration configuration;
};

/// Configurations of device/attention.cuh, the best first.
std::vector<Guess> mma_guesses(const AttentionProblem &problem,
                               const elements::DeviceFacts &device);

/// Returns about the microseconds of PyTorch's attention; infinity where it has none.
double attention_of_library(const AttentionProblem &problem, const elements::DeviceFacts &device);

/// Sizes that follow from a configuration, of device/attention.cuh.
struct Tiles {
  int row_warps = 0, key_warps = 0, row_tiles = 0, keys = 0, stages = 0, parts = 0;

  int threads() const { return row_warps * key_warps * 32; }
  int rows() const { return row_warps * row_tiles * 16; }
  /// Bytes of shared memory.
  std::int64_t shared(const AttentionProblem &problem) const;
  /// About the registers of a thread.
  int registers(const AttentionProblem &problem) const;
};

/// Errors: settings out of range, or tiles for which the device has too little.
Result<Tiles> tiles_of(const elements::Configuration &configuration,
                       const AttentionProblem &problem, const elements::DeviceFacts &device);

} // namespace warpwright::families::attention
