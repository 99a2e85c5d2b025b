#include "generator/families/attention/attention_problem.h"

#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace warpwright::families::attention {
namespace {

using model::Shape;

constexpr std::int64_t kUnit = 8; ///< 16-bit elements in 16 bytes

Result<Rows> rows_of(const elements::MemoryView &view, std::int64_t heads) {
  Rows rows;
  rows.buffer = view.root;
  rows.offset = view.offset;
  const std::size_t rank = view.shape.size();
  Shape strides = view.strides;
  for (std::size_t i = 0; i < rank; ++i)
    if (view.shape[i] == 1)
      strides[i] = 0;
  bool is_aligned = view.strides.back() == 1 && rows.offset % kUnit == 0;
  for (std::size_t i = 0; i + 1 < rank; ++i)
    is_aligned = is_aligned && strides[i] >= 0 && strides[i] % kUnit == 0;
  if (!is_aligned)
    return fail(view.root + "'s rows are not neighbors that begin at multiples of 16 bytes");
  rows.row = strides[rank - 2];
  rows.batches.assign(strides.begin(), strides.end() - 2);
  if (heads > 1) { // heads of queries: each group's follow one another
    rows.head = rows.batches.back();
    rows.batches.back() *= heads;
  }
  return rows;
}

Result<Rows> rows_in_memory(const ops::GraphIndex &graph, const elements::Region &region,
                            const std::string &value, std::int64_t heads = 1) {
  const elements::MemoryView view = elements::view_of(graph, value, region.strides);
  if (std::ranges::find(region.inputs, view.root) == region.inputs.end())
    return fail(value + " does not lie in memory");
  return rows_of(view, heads);
}

Result<Parts> parts_of(const ops::GraphIndex &graph, const elements::Region &region,
                       const std::string &value) {
  const model::Node &node = graph.node(value);
  Parts parts;
  if (node.op != op::cat || std::ranges::find(region.nodes, value) == region.nodes.end()) {
    parts.first = TRY(rows_in_memory(graph, region, value));
    return parts;
  }
  const Shape &first = graph.node(node.inputs[0]).type().shape;
  parts.rows_of_first = first[first.size() - 2];
  parts.first = TRY(rows_in_memory(graph, region, node.inputs[0]));
  parts.second = TRY(rows_in_memory(graph, region, node.inputs[1]));
  if (std::ranges::find(region.outputs, value) != region.outputs.end())
    parts.kept = TRY(rows_of(elements::view_of(graph, value, region.strides), 1));
  return parts;
}

} // namespace

std::vector<std::string> cats_of(const ops::GraphIndex &graph, const model::Node &anchor) {
  constexpr std::int64_t kMostRows = 64; // of a group: one block reads all keys, and stores them
  const Shape &q = graph.node(anchor.inputs[0]).type().shape;
  std::vector<std::string> cats;
  for (const std::size_t operand : {1, 2}) {
    const std::string &value = elements::unrepeated_operand(graph, anchor, operand);
    const model::Node &cat = graph.node(value);
    const Shape &shape = cat.type().shape;
    const std::size_t rank = shape.size();
    if (cat.op != op::cat || cat.inputs.size() != 2 || ops::flag_attribute(anchor, "causal") ||
        ops::integer_attribute(cat, "dim") + 2 != std::ssize(shape) ||
        q[rank - 3] / shape[rank - 3] * q[rank - 2] > kMostRows)
      continue;
    const bool are_rows = std::ranges::all_of(cat.inputs, [&](const std::string &part) {
      return rows_of(elements::view_of(graph, part, {}), 1).has_value();
    });
    if (are_rows && std::ranges::find(cats, value) == cats.end())
      cats.push_back(value);
  }
  return cats;
}

Result<AttentionProblem> attention_problem(const ops::GraphIndex &graph,
                                           const elements::Region &region) {
  const model::Node &anchor = graph.node(region.anchor);
  const std::string &key = elements::unrepeated_operand(graph, anchor, 1),
                    &value = elements::unrepeated_operand(graph, anchor, 2);
  const Shape &q = graph.node(anchor.inputs[0]).type().shape, &k = graph.node(key).type().shape,
              &v = graph.node(value).type().shape;
  AttentionProblem problem;
  problem.batch.assign(k.begin(), k.end() - 2);
  if (!problem.batch.empty())
    problem.heads = q[q.size() - 3] / problem.batch.back();
  problem.queries = q[q.size() - 2];
  problem.keys = k[k.size() - 2];
  problem.depth = static_cast<int>(k.back());
  problem.width = static_cast<int>(v.back());
  problem.causal = ops::flag_attribute(anchor, "causal");
  problem.bfloat16 = anchor.type().dtype == model::Dtype::BFloat16;
  problem.scale =
      ops::number_attribute(anchor, "scale", 1 / std::sqrt(static_cast<double>(problem.depth)));
  problem.softcap = ops::number_attribute(anchor, "softcap", 0);
  if (anchor.inputs.size() > 3)
    problem.mask = anchor.inputs[3];
  if (!(problem.scale > 0))
    return fail("scores are scaled by a number that is not positive");
  problem.q = TRY(rows_in_memory(graph, region, anchor.inputs[0], problem.heads));
  problem.k = TRY(parts_of(graph, region, key));
  problem.v = TRY(parts_of(graph, region, value));
  return problem;
}

std::int64_t Tiles::shared(const AttentionProblem &problem) const {
  const auto fragments = [](std::int64_t elements) { return elements::ceil_divide(elements, 16); };
  const std::int64_t key = (2 * fragments(problem.depth) + 1) * kUnit,
                     value = (2 * fragments(problem.width) + 1) * kUnit;
  const std::int64_t copied =
      2 * (rows() * key + static_cast<std::int64_t>(stages) * keys * (key + value));
  const std::int64_t kept = 4LL * key_warps * rows() * (fragments(problem.width) * 16 + 4 + 2);
  return std::max(copied, kept);
}

int Tiles::registers(const AttentionProblem &problem) const {
  constexpr int kOther = 48;
  const int warp_keys = keys / key_warps;
  const int held = row_tiles == 1 && problem.depth <= 128 ? problem.depth / 4 : 4 * row_tiles;
  return kOther + held + row_tiles * (problem.width + warp_keys) / 2;
}

Result<Tiles> tiles_of(const elements::Configuration &configuration,
                       const AttentionProblem &problem, const elements::DeviceFacts &device) {
  const auto settings = elements::settings_of(configuration, {{"row_warps", 1, 8},
                                                              {"key_warps", 1, 8},
                                                              {"row_tiles", 1, 2},
                                                              {"keys", 16, 256},
                                                              {"stages", 2, 4},
                                                              {"parts", 1, 64}});
  if (!settings)
    return std::unexpected(settings.error());
  const Tiles tiles{settings->at("row_warps"), settings->at("key_warps"), settings->at("row_tiles"),
                    settings->at("keys"),      settings->at("stages"),    settings->at("parts")};
  constexpr int kMostRegisters = 255;
  if (tiles.keys % (16 * tiles.key_warps) != 0)
    return fail("keys of a stage do not divide into fragments of its warps");
  if (tiles.shared(problem) > device.shared_bytes_block)
    return fail("the tiles need " + std::to_string(tiles.shared(problem)) +
                " bytes of shared memory");
  if (tiles.registers(problem) > kMostRegisters || tiles.threads() > 512)
    return fail("the tiles need more registers than a thread has");
  return tiles;
}

namespace {

/// Microseconds of a configuration: tensor cores and memory, by how many warps and bytes are under way.
double microseconds(const AttentionProblem &problem, const Tiles &tiles,
                    const elements::DeviceFacts &device) {
  const arch::AttentionRates &own = device.rates.attention;
  const arch::MatmulRates &rates = device.rates.matmul;
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const double threads = tiles.threads();
  const double blocks_at_once = std::max(
      1.0, std::floor(std::min(
               {device.shared_bytes_multiprocessor / number(tiles.shared(problem) + 1024),
                device.registers_multiprocessor / (threads * (tiles.registers(problem) + 7)),
                device.threads_multiprocessor / threads})));
  const double row_blocks = std::ceil(number(problem.rows()) / tiles.rows());
  const double blocks = row_blocks * tiles.parts * number(problem.batches());
  const double seen = problem.causal ? 0.5 + 0.5 / row_blocks : 1;
  const double steps = std::ceil(seen * number(problem.keys) / tiles.parts / tiles.keys);
  const double at_once = std::min(blocks_at_once, std::ceil(blocks / device.multiprocessors));
  const double head = problem.depth + problem.width;
  const double scores =
      own.score_elements * (problem.changes_scores() ? 2 : 1);
  const double flops =
      2.0 * tiles.rows() * steps * (tiles.keys + own.step_keys * tiles.key_warps) * (head + scores);
  const double multiply_us =
      flops / (own.flops * own.cycles * std::min(1.0, at_once * threads / 32 / own.busy_warps));
  const double stage = 2.0 * tiles.keys * head;
  const double flight = std::min(1.0, at_once * (tiles.stages - 1) * stage / own.busy_bytes);
  const double copy_us =
      steps * stage / (rates.second_cache_bytes / device.multiprocessors * flight);
  const double rounds = blocks / (device.multiprocessors * blocks_at_once);
  const double waves = rounds <= 1 ? 1 : (std::ceil(rounds) + rounds) / 2;
  const double memory_us = 2.0 * number(problem.batches() * problem.keys) * head /
                           (rates.bytes * std::min(1.0, blocks / device.multiprocessors));
  const double joined =
      8.0 * tiles.parts * number(problem.batches() * problem.rows()) * problem.width;
  const double join_us = tiles.parts == 1 ? 0 : rates.launch_us + 1 + joined / rates.bytes;
  return rates.launch_us + own.start_us +
         std::max(waves * at_once * std::max(multiply_us, copy_us), memory_us) + join_us;
}

} // namespace

std::vector<Guess> mma_guesses(const AttentionProblem &problem,
                               const elements::DeviceFacts &device) {
  std::vector<Guess> result;
  const auto add = [&](int row_warps, int row_tiles, int key_warps, int warp_keys, int stages,
                       int parts) {
    const elements::Configuration one{{"row_warps", row_warps}, {"row_tiles", row_tiles},
                                      {"key_warps", key_warps}, {"keys", warp_keys * key_warps},
                                      {"stages", stages},       {"parts", parts}};
    if (const auto tiles = tiles_of(one, problem, device))
      result.push_back({microseconds(problem, *tiles, device), one});
  };
  const std::int64_t row_tiles = elements::ceil_divide(problem.rows(), 16);
  for (const int row_warps : {1, 2, 4, 8})
    for (const int tiles : {1, 2})
      for (const int key_warps : {1, 2, 4, 8})
        for (const int warp_keys : {16, 32, 64})
          for (const int stages : {2, 3, 4}) {
            const int warps = row_warps * key_warps;
            if (warps < 4 || warps > 8 ||
                (row_warps * tiles > 1 && row_warps * tiles / 2 >= row_tiles))
              continue;
            const std::int64_t blocks =
                elements::ceil_divide(row_tiles, row_warps * tiles) * problem.batches();
            const std::int64_t most = std::min<std::int64_t>(
                elements::ceil_divide(problem.keys, warp_keys * key_warps), 64);
            std::set<std::int64_t> parts{1};
            for (const int waves : {1, 2, 4})
              parts.insert(
                  std::clamp<std::int64_t>(waves * device.multiprocessors / blocks, 1, most));
            for (const std::int64_t one : parts)
              add(row_warps, tiles, key_warps, warp_keys, stages, static_cast<int>(one));
          }
  std::ranges::stable_sort(result, {}, &Guess::us);
  return result;
}

double attention_of_library(const AttentionProblem &problem, const elements::DeviceFacts &device) {
  if (problem.softcap != 0)
    return INFINITY; // it has no such kernel
  const arch::AttentionRates &rates = device.rates.attention;
  const double share =
      (problem.depth <= rates.small_head ? rates.library_small : rates.library_large) *
      (problem.mask.empty() ? 1 : rates.library_masked);
  const double flops = 2.0 *
                       static_cast<double>(problem.batches() * problem.rows() * problem.keys) *
                       (problem.depth + problem.width) * (problem.causal ? 0.5 : 1);
  const double cycle = 4096 * share; // operations of a multiprocessor's tensor cores
  const double bytes =
      2.0 * static_cast<double>(problem.batches() * problem.keys) * (problem.depth + problem.width);
  return rates.library_start_us +
         std::max(flops / (cycle * device.rates.matmul.half_cycles * device.multiprocessors),
                  bytes / device.rates.matmul.bytes);
}

} // namespace warpwright::families::attention
