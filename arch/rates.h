// Speeds of a GPU generation's parts that the families' estimates rank their configurations by.
//
// Fitted on an H200 (bench/results/h200), by family, since each reaches another share of what the parts can do. Estimates only decide what a
// search measures first. Times in microseconds, rates by microsecond, of the whole GPU unless it says otherwise. Thread: values.
#pragma once

namespace warpwright::arch {

struct MatmulRates {
  double launch_us = 1.5; ///< from one kernel of a graph to the next
  double bytes = 3.5e6;   ///< of device memory
  double block_us = 2;    ///< a block's start, first loads and stores
  double second_cache_bytes = 5e6;
  double first_cache_bytes = 0.15e6; ///< of a multiprocessor
  double first_cache_size = 96e3;    ///< bytes of a multiprocessor's first-level cache, as far as reuse lasts
  double flops = 0.35e6;             ///< of a multiprocessor's ordinary cores
  double tf32_flops = 0.37e6;        ///< of a multiprocessor, three products counted as one
  double half_cycles = 1.5e3;        ///< of tensor cores at work on float16, power and memory considered
};

/// Convolutions as implicit products (families/convolution).
struct ConvolutionRates {
  double start_us = 7;             ///< of both kernels, as short ones took
  double uneven_waves = 1.5;       ///< that a launch takes beyond those its blocks fill
  double scattered_store_ns = 0.19; ///< of an output that stands alone in its sector, for each step between such outputs
  double join_us = 2, join_bytes = 4e6;
};

/// Convolutions as tiles held in shared memory.
struct TileRates {
  double cycles = 1700;
  double start_cycles = 3000, step_cycles = 900, pack_us = 2.5;
  double caution = 2;          ///< what was measured took about so much longer
  double shared_bytes = 225e3; ///< of a multiprocessor
};

/// Convolutions with short sums, on ordinary cores.
struct DirectRates {
  double cycles = 1700, bytes = 3.5e6;
  double start_cycles = 2500, wait_cycles = 700;
  double caution = 2;          ///< what was measured took about so much longer
  double shared_bytes = 220e3; ///< of a multiprocessor
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
  double products = 1.05e6; ///< multiply-adds of one multiprocessor, of the largest tile
  double uneven = 1.7;      ///< of channels that tensor cores cannot load as whole vectors
  /// Beyond long_us our own convolutions on tensor cores take ours_long times their estimates.
  double long_us = 20, ours_long = 1.3;
};

/// Rows: softmax, norms, reductions.
struct RowRates {
  long long cache_bytes = 50 << 20; ///< of the second-level cache, as far as what was read stays in it
};

/// Pools, depthwise convolutions and upsampling.
struct WindowRates {
  int shared_bytes = 96 * 1024; ///< of a block's tile at most
};

/// Any node, to rank changes of a plan by what they can save.
struct NodeRates {
  double bytes_per_second = 3e12, flops_per_second = 40e12, launch_seconds = 2e-6;
};

struct Rates {
  MatmulRates matmul;
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
