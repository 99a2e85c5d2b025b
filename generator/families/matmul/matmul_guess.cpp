// Time model of the matmul algorithms; see matmul_guess.h.
//
// The time is the sum of launches, waves of blocks over the multiprocessors, and
// bytes over memory bandwidth. arch provides the rates, as bench/matmul measured
// them. The model only ranks; the search measures the configurations that come first.
#include "generator/families/matmul/matmul_guess.h"
#include "arch/generations.h"

#include "generator/families/matmul/matmul_text.h"

#include <algorithm>
#include <cmath>

namespace warpwright::families::matmul {
namespace {

struct Guess {
  double us = 0;
  elements::Configuration configuration;
};

struct Model {
  const MatmulProblem &problem;
  const elements::DeviceFacts &device;
  const arch::MatmulRates &rates;
  std::vector<Guess> guesses;

  bool is_wide_type() const { return problem.type == "double" || problem.type == "long long"; }
  double elements(double rows, double columns) const { return rows * columns * problem.batches(); }
  double bytes() const {
    // The second-level cache holds what the window's positions share.
    const double left = problem.window ? static_cast<double>(problem.window->shape.batch *
                                                             problem.window->shape.channels_in() *
                                                             model::elements_of({problem.window->shape.in[0],
                                                                                 problem.window->shape.in[1],
                                                                                 problem.window->shape.in[2]}))
                                       : elements(problem.rows, problem.depth);
    return 4 * (left + elements(problem.depth, problem.columns) +
                elements(problem.rows, problem.columns));
  }
  double tiles(int tile_m, int tile_n) const {
    return static_cast<double>(elements::ceil_divide(problem.rows, tile_m) *
                               elements::ceil_divide(problem.columns, tile_n) * problem.batches());
  }
  double waves(double blocks, int at_once) const {
    return std::ceil(blocks / (device.multiprocessors * at_once));
  }
  /// Time to write and add `splits` partial results.
  double sum_us(int splits) const {
    return splits == 1 ? 0
                       : rates.launch_us + 1 +
                             8 * splits * elements(problem.rows, problem.columns) / rates.bytes;
  }
  std::vector<int> splits_for(double blocks, int at_once, int most) const {
    std::vector<int> result{1};
    const double room = device.multiprocessors * at_once / std::max(blocks, 1.0);
    for (const double factor : {1.0, 2.0, 4.0}) {
      const int splits =
          static_cast<int>(std::clamp(std::floor(room * factor), 1.0, static_cast<double>(most)));
      if (std::ranges::find(result, splits) == result.end())
        result.push_back(splits);
    }
    return result;
  }
  /// @param kernel_us time of the multiplying kernel without its launch
  void add(MatmulAlgorithm algorithm, double kernel_us, int splits,
           elements::Configuration settings) {
    settings["algorithm"] = static_cast<int>(algorithm);
    settings["splits"] = splits;
    guesses.push_back({rates.launch_us + kernel_us + sum_us(splits), std::move(settings)});
  }
  static elements::Configuration tile(int m, int n, int k) {
    return {{"tile_m", m}, {"tile_n", n}, {"tile_k", k}};
  }
  /// Slowdown of a block if up to `at_once` blocks share its multiprocessor, relative to a block alone.
  double sharing(double blocks, int at_once) const {
    return std::max(1.0, std::min<double>(at_once, blocks / device.multiprocessors));
  }

  void simt() {
    struct Shape {
      int m, n, k, thread_m, thread_n, at_once;
    };
    for (const Shape &s : {Shape{128, 128, 8, 8, 8, 2},
                           {128, 64, 16, 8, 4, 2},
                           {64, 64, 16, 4, 4, 4},
                           {64, 32, 16, 4, 4, 8},
                           {32, 32, 16, 4, 4, 16},
                           {16, 64, 16, 4, 4, 16}}) {
      if (is_wide_type() && s.m * s.n > 64 * 64)
        continue;
      for (const int splits :
           splits_for(tiles(s.m, s.n), s.at_once, static_cast<int>(problem.depth / 64) + 1)) {
        const double blocks = tiles(s.m, s.n) * splits;
        const double depth = std::ceil(static_cast<double>(problem.depth) / splits);
        const double flops = 2.0 * s.m * s.n * depth;
        const double small = s.m * s.n < 64 * 64 ? 1.8 : s.m * s.n < 128 * 128 ? 1.25 : 1;
        // Behind the sum of splits, if there are any.
        const double behind = s.m * s.n * problem.epilogue_cost / rates.epilogue_operations;
        const double busy = (flops * small / rates.flops + behind) * sharing(blocks, s.at_once);
        const double latency = depth / s.k * 0.7;
        const double compute =
            waves(blocks, s.at_once) * (std::max(busy, latency) + rates.block_us);
        elements::Configuration settings = tile(s.m, s.n, s.k);
        settings["thread_m"] = s.thread_m;
        settings["thread_n"] = s.thread_n;
        add(MatmulAlgorithm::Simt, std::max(compute, bytes() / rates.bytes), splits, settings);
      }
    }
  }

  void rows() {
    const bool a_is_wide = problem.rows >= problem.columns;
    const MatmulOperand &wide = a_is_wide ? problem.a : problem.b;
    const int thin = static_cast<int>(std::min<std::int64_t>({problem.rows, problem.columns, 17}));
    const std::int64_t wide_rows = std::max(problem.rows, problem.columns);
    if (thin > 16)
      return;
    const int lanes = wide.fours ? 4 : 1, element = is_wide_type() ? 8 : 4;
    for (const int warps : {8, 4, 16})
      for (const int rows : wide.along_k ? std::vector{4, 2, 1} : std::vector{1})
        for (const int share : wide.along_k ? std::vector{1, warps} : std::vector{1}) {
          if (wide.along_k ? rows * thin > 64 : warps * thin * 32 * lanes * element > 48 * 1024)
            continue;
          const double rows_a_block = wide.along_k ? warps / share * rows : 32 * lanes;
          const double strips = std::ceil(wide_rows / rows_a_block) * problem.batches();
          for (const int splits :
               splits_for(strips, 4, static_cast<int>(problem.depth / 256) + 1)) {
            const double blocks = strips * splits;
            const double steps =
                problem.depth / (splits * (wide.along_k ? share * 32.0 * lanes : warps));
            const double latency =
                waves(blocks, 64 / warps) * (steps * (wide.along_k ? 0.175 : 0.2) + 1);
            // Each element of the wide operand meets `thin` others, which the first-level cache provides.
            const double used = std::min<double>(device.multiprocessors, blocks);
            const double work = elements(wide_rows, problem.depth);
            const double arithmetic = 2 * thin * work / (rates.flops * 0.4 * used);
            // If k is the slow dimension, each lane's element lies in its own cache line.
            const double reads = (a_is_wide ? problem.b : problem.a).along_k ? 1 : 16;
            const double cache =
                work * 4 * (1 + reads * thin / rows) / (rates.first_cache_bytes * used);
            // The second-level cache provides a long thin operand, once for each team of rows.
            const double far =
                wide.along_k && 4.0 * thin * problem.depth / splits > rates.first_cache_size
                    ? work * 4 * (1 + static_cast<double>(thin) / rows) / rates.second_cache_bytes
                    : 0;
            add(MatmulAlgorithm::Rows,
                std::max(
                    {bytes() / rates.bytes, latency, arithmetic, wide.along_k ? cache : 0, far}),
                splits, {{"warps", warps}, {"rows", rows}, {"share", share}});
          }
        }
  }

  void split_tf32() {
    struct Shape {
      int m, n, k, warp_m, warp_n, stages, at_once;
      double rate;
    };
    for (const Shape &s : {Shape{128, 128, 32, 64, 32, 3, 1, 1},
                           {128, 64, 32, 32, 32, 4, 2, 0.9},
                           {64, 64, 32, 32, 32, 4, 3, 0.8},
                           {64, 64, 32, 32, 16, 5, 2, 0.65},
                           {64, 64, 64, 32, 16, 3, 2, 0.7},
                           {64, 32, 64, 32, 16, 3, 3, 0.6},
                           {32, 64, 32, 16, 32, 4, 4, 0.6},
                           {32, 64, 64, 16, 16, 3, 3, 0.6},
                           {32, 32, 64, 16, 16, 4, 3, 0.5},
                           {16, 64, 64, 16, 16, 4, 3, 0.25},
                           {16, 32, 128, 16, 8, 3, 3, 0.2}})
      for (const int cluster : {1, 2, 4, 8}) {
        if ((cluster > 1 && (!device.clusters || s.m * s.n > 64 * 64)) ||
            problem.depth < cluster * s.k)
          continue;
        for (const int splits :
             splits_for(tiles(s.m, s.n) * cluster, s.at_once,
                        cluster > 1 ? 1 : static_cast<int>(problem.depth / 256) + 1)) {
          const double blocks = tiles(s.m, s.n) * cluster * splits;
          const double depth = std::ceil(static_cast<double>(problem.depth) / (cluster * splits));
          const double busy =
              2.0 * s.m * s.n * depth / (rates.tf32_flops * s.rate) * sharing(blocks, s.at_once);
          const double steps = std::ceil(depth / s.k);
          const double latency =
              (steps >= s.stages ? 0.8 : 0) + (cluster > 1 ? 1 : 0) + rates.block_us;
          const double compute =
              waves(blocks, s.at_once) * (std::max(busy, steps * 0.35) + latency);
          elements::Configuration settings = tile(s.m, s.n, s.k);
          settings.insert({{"warp_m", s.warp_m},
                           {"warp_n", s.warp_n},
                           {"stages", s.stages},
                           {"cluster", cluster}});
          add(MatmulAlgorithm::SplitTf32, std::max(compute, bytes() / (0.75 * rates.bytes)), splits,
              settings);
        }
      }
  }

  /// Products of 16-bit operands in memory. The tensor cores or the copies from the second-level cache bound a tile's
  /// sum; what is computed behind it takes its time on ordinary cores.
  void half() {
    for (const int group_m : {64, 128})
      for (int n = problem.window && problem.columns <= 32 ? 32 : 64; n <= 256 * 64 / group_m; n += 32)
        for (const int together : {1, 0})
          half(group_m, n, together, problem.store_down > 1 && !problem.window && !problem.twin_b);
    for (const int n : {16, 32, 64})
      if (problem.rows <= 64 && !problem.twin_b && !problem.window)
        half(64, n, 1, 1);
  }

  void half(int group_m, int n, int together, int swapped) {
    constexpr int kMostSums = 64 * 256, kRoomBeside = 4; ///< of a group of warps; units of ops::recompute_cost()
    const int columns = problem.twin_b ? n / 2 : n; // of the result
    const bool along_k = problem.window || (swapped ? problem.a : problem.b).along_k;
    if (columns % (along_k ? 32 : 64) != 0 && columns >= 32)
      return; // the right operand comes in chunks of so many columns
    const int m = together ? 2 * group_m : group_m;
    const int other = half_other_bytes(half_piece(problem, columns));
    const int stages = std::min(kHalfMostStages, static_cast<int>(device.shared_bytes_block - other) /
                                                     half_stage_bytes(m, n));
    if (stages < 3)
      return;
    const double blocks = swapped ? tiles(n, m) : tiles(m, columns);
    const int most_splits = problem.twin_b ? 1 : static_cast<int>(problem.depth / 512) + 1;
    for (const int splits : splits_for(blocks, 1, most_splits)) {
      const double chunks = std::ceil(static_cast<double>(half_chunks(problem)) / splits);
      const double used = std::min<double>(device.multiprocessors, blocks * splits);
      const double multiply = m * 64.0 * std::max(n, 64) / 2048 / rates.half_cycles;
      const double copy = half_stage_bytes(m, n) * used / rates.tile_bytes;
      const double all = waves(blocks * splits, 1), sum = chunks * std::max(multiply, copy);
      // Partial sums are stored as they are. What follows a sum finds no registers beside the largest tiles.
      const double behind = splits > 1 ? 0 : columns * problem.epilogue_cost / rates.epilogue_operations;
      const bool spills = group_m * n >= kMostSums && problem.epilogue_cost > kRoomBeside;
      // Pieces of columns fill sectors of memory; pieces of rows are whole lines.
      const double pieces = problem.store_down > 1 && !swapped ? 2 : 1;
      const double store = group_m * (pieces * n / rates.stored_elements + behind) * (spills ? 1.4 : 1);
      // While one of two groups stores, the other multiplies.
      const double tile = together ? sum + store : std::max(sum, (sum + store) / 2);
      const double first =
          together ? 0 : sum + store - tile; // of the first and the last tile, which nothing hides
      // A multiprocessor draws little more than its share of the memory's rate.
      const double memory =
          bytes() / (problem.window && problem.dtype == model::Dtype::Float32 ? 1 : 2) / (rates.bytes * std::min(1.0, 1.25 * used / device.multiprocessors));
      add(MatmulAlgorithm::Half, std::max(all * tile + first + rates.block_us, memory), splits,
          {{"group_m", group_m},
           {"tile_n", n},
           {"together", together},
           {"stages", stages},
           {"swapped", swapped}});
    }
  }

  /// Products of a 16-bit matrix with few vectors, bound by memory as soon as enough of it is under way.
  void thin_half() {
    constexpr double kHalfBytes = 50e3; // under way on a multiprocessor, for half of the rate
    const auto rows = static_cast<double>(std::max(problem.rows, problem.columns));
    const double matrices = problem.twin_b ? 2 : 1,
                 batches = static_cast<double>(problem.batches());
    const double blocks = std::ceil(rows / 16) * batches,
                 lines = std::ceil(static_cast<double>(problem.depth) / 64);
    const double bytes = 2 * matrices * rows * static_cast<double>(problem.depth) * batches;
    for (const int warps : {16, 8, 4})
      for (const int unroll : {4, 2, 1}) {
        if (unroll * matrices * warps > 64 || (unroll > 1 && (unroll - 1) * warps >= lines))
          continue; // more registers than there are, or a row than it has
        const double at_once = std::min(device.threads_multiprocessor / (warps * 32 * matrices),
                                        std::ceil(blocks / device.multiprocessors));
        const double flight = at_once * std::min<double>(warps * unroll, lines) * matrices * 2048;
        const double busy =
            flight / (flight + kHalfBytes) * std::min(1.0, blocks / device.multiprocessors);
        add(MatmulAlgorithm::ThinHalf, bytes / (rates.bytes * busy) + rates.block_us / 2, 1,
            {{"warps", warps}, {"unroll", unroll}});
      }
  }

  void packed() {
    const double terms = problem.dtype == model::Dtype::Float32 ? 3 : 1;
    struct Shape {
      int n, width, stages, promote;
    };
    for (const Shape &s :
         {Shape{128, 128, 6, 2}, {192, 192, 5, 2}, {256, 128, 4, 2}, {64, 64, 6, 2}})
      for (const int splits :
           splits_for(tiles(128, s.n), 1, static_cast<int>(problem.depth / 256) + 1)) {
        const double blocks = tiles(128, s.n) * splits;
        const double chunks = std::ceil(static_cast<double>(problem.depth) / 32 / splits);
        const double pack =
            rates.launch_us + 1 +
            8 * (elements(problem.rows, problem.depth) + elements(problem.depth, problem.columns)) /
                rates.bytes;
        const double store =
            terms == 1 ? 64 * s.n * (1 / rates.stored_elements + problem.epilogue_cost / rates.epilogue_operations) : 0;
        const double busy =
            chunks * 2 * terms * std::max(s.n, 96) / rates.half_cycles + store + rates.block_us;
        add(MatmulAlgorithm::Packed,
            pack + std::max(waves(blocks, 1) * busy, bytes() / rates.bytes), splits,
            {{"tile_n", s.n}, {"width", s.width}, {"stages", s.stages}, {"promote", s.promote}});
      }
  }
};

} // namespace

namespace {

/// Guesses of all algorithms that can compute the problem, the fastest first.
std::vector<Guess> guesses_of(const MatmulProblem &problem, const elements::DeviceFacts &device) {
  Model model{problem, device, device.rates.matmul, {}};
  const bool thin_half = device.has_tensor_cores() && !problem.window && is_thin_half(problem);
  if (!problem.twin_b && !problem.window) {
    model.simt();
    if (!thin_half)
      model.rows();
  }
  if (problem.type == "float" && !problem.twin_b && !problem.window) {
    if (problem.dtype == model::Dtype::Float32 && device.has_tensor_cores())
      model.split_tf32();
    if (device.tensor_cores == arch::TensorCores::Wgmma)
      model.packed();
  }
  if (problem.type == "float" && device.tensor_cores == arch::TensorCores::Wgmma &&
      can_map(problem))
    model.half();
  if (thin_half) {
    constexpr double kSlower = 1.2; // measured: tiles leave most of their rows empty
    if (!problem.twin_b)
      for (Guess &guess : model.guesses)
        guess.us *= kSlower;
    model.thin_half();
  }
  std::ranges::sort(model.guesses, {}, &Guess::us);
  return std::move(model.guesses);
}

} // namespace

double matmul_microseconds(const MatmulProblem &problem, const elements::DeviceFacts &device) {
  return guesses_of(problem, device).front().us;
}

std::vector<elements::Configuration> matmul_configurations(const MatmulProblem &problem,
                                                           const elements::DeviceFacts &device,
                                                           std::size_t most) {
  std::vector<elements::Configuration> result;
  std::map<int, std::size_t> listed;
  // The list includes some of each algorithm, so that a search can correct the model.
  for (const Guess &guess : guesses_of(problem, device)) {
    std::size_t &count = listed[guess.configuration.at("algorithm")];
    if (result.size() < most && count < (problem.window ? most : (most + 1) / 2)) {
      result.push_back(guess.configuration);
      ++count;
    }
  }
  return result;
}

} // namespace warpwright::families::matmul
