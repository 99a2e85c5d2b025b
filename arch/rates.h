// Speeds of a GPU's parts, by which the families' estimates rank their configurations.
// The values were fitted on an H200 (bench/results/h200), separately by family, since each family reaches a different
// share of the peak. Estimates only decide what a search measures first. Times are in microseconds and rates are per
// microsecond, for the whole GPU unless a comment says otherwise.
#pragma once

#include <algorithm>

namespace warpwright::arch {

struct MatmulRates {
  double launch_us = 1.5; ///< between two kernels of a graph
  double bytes = 3.5e6;   ///< device memory traffic
  double block_us = 2;    ///< start, first loads and stores of a block
  double second_cache_bytes = 5e6;
  double first_cache_bytes = 0.15e6; ///< per multiprocessor
  double first_cache_size = 96e3;    ///< bytes of a multiprocessor's first-level cache that are reused in practice
  double flops = 0.35e6;             ///< per multiprocessor, ordinary cores
  double tf32_flops = 0.37e6;        ///< per multiprocessor, three products counted as one
  double tile_bytes = 12e6;          ///< second-level cache to shared memory by the bulk copy engine
  double stored_elements = 8e3;      ///< of a tile, by four warps
  double epilogue_operations = 25e3; ///< behind a product, by four warps, in units of ops::recompute_cost()
  double half_cycles = 1.5e3;        ///< tensor core cycles on float16, within limits of power and memory
};

/// Attention of 16-bit operands (families/attention), and PyTorch's.
struct AttentionRates {
  double busy_warps = 16, busy_bytes = 32e3; ///< of a multiprocessor, under way, for the full rate
  double cycles = 1500, flops = 3200;        ///< a microsecond; a multiprocessor's cycle
  double step_keys = 16;      ///< cost of a step besides its keys, in keys
  double score_elements = 128; ///< cost of a score, in elements of a head
  double start_us = 2;        ///< first loads and last stores of a block
  // With wgmma, of a multiprocessor: operations a microsecond, and microseconds.
  double wgmma_flops = 7.6e6;
  double weigh_us = 2.4e-5;               ///< of a score until it is a weight
  double changed_scores = 4.4;            ///< factor of weigh_us with a cap or a mask
  double stage_us = 0.21, item_us = 2.2;  ///< of a tile of keys, and of a tile of queries, besides
  double library_start_us = 4;
  /// Share of the tensor cores' peak with heads of up to small_head elements and above; factor with a mask.
  double library_small = 0.45, library_large = 0.75, library_masked = 0.6;
  int small_head = 64;
};

/// Convolutions as implicit matrix products (families/convolution).
struct ConvolutionRates {
  double start_us = 7;             ///< start of both kernels, measured on short convolutions
  double uneven_waves = 1.5;       ///< waves of a launch beyond those that its blocks fill
  double scattered_store_ns = 0.19; ///< store of an output alone in its sector, per step between such outputs
  double join_us = 2, join_bytes = 4e6;
};

/// Convolutions whose tiles stay in shared memory.
struct TileRates {
  double cycles = 1700;
  double start_cycles = 3000, step_cycles = 900, pack_us = 2.5;
  double caution = 2;          ///< measured time divided by the model's time, approximately
  double shared_bytes = 225e3; ///< per multiprocessor
};

/// Convolutions with short sums, on ordinary cores.
struct DirectRates {
  double cycles = 1700, bytes = 3.5e6;
  double start_cycles = 2500, wait_cycles = 700;
  double caution = 2;          ///< measured time divided by the model's time, approximately
  double shared_bytes = 220e3; ///< per multiprocessor
};

struct DepthwiseRates {
  double launch_us = 2.5, bytes = 3.6e6, products = 1.6e7;
};

struct RecurrentRates {
  double cycles = 1700;
  double passing_cycles = 1200, summing_cycles = 600;
};

/// cuDNN on channels-last tensors in TF32, and the passes around it.
struct LibraryRates {
  double launch_us = 2.5, call_us = 6, bytes = 3.3e6;
  double products = 1.05e6; ///< multiply-adds per multiprocessor with the largest tile
  double uneven = 1.7;      ///< slowdown for channel counts that tensor cores cannot load as whole vectors
  /// In an estimate for our own tensor core convolutions, the time beyond long_us is multiplied by ours_long.
  double long_us = 20, ours_long = 1.3;
};

/// Kernels over rows: softmax, norms, reductions.
struct RowRates {
  long long cache_bytes = 50 << 20; ///< second-level cache that keeps data between two reads
};

/// Pools, depthwise convolutions and upsampling.
struct WindowRates {
  int shared_bytes = 96 * 1024; ///< maximum for a block's tile
};

/// Rough rates of any node, which rank a plan's changes by the time that they can save.
struct NodeRates {
  double bytes_per_second = 3e12, flops_per_second = 40e12, launch_seconds = 2e-6;

  double seconds(double bytes, double flops) const {
    return std::max(bytes / bytes_per_second, flops / flops_per_second) + launch_seconds;
  }
};

struct Rates {
  MatmulRates matmul;
  AttentionRates attention;
  ConvolutionRates convolution;
  TileRates tiles;
  DirectRates direct;
  DepthwiseRates depthwise;
  RecurrentRates recurrent;
  RowRates rows;
  WindowRates windows;
  LibraryRates library;
  NodeRates node;
};

} // namespace warpwright::arch
